"""The room of Kafka's APIs: for each, its handler, what it needs of access control, its refusal,
and its row of the table (table.py).

Enters: decoded requests, as exchanges. Leaves: operations of shards and of the catalog, through the node (hosting/node.py), and
responses. It imports the rooms guard, hosting, cluster, exchange and wire.
"""
