"""What an administrator asks of a cluster: topics, groups, offsets, settings and transactions,
of any server of Kafka's protocol.
"""
