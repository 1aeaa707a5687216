"""What a replicated state machine is made of.

Plain, synchronous, without I/O: a shard takes operations one at a time and answers with records and a response. Time, ids and
timers reach it as arguments. The names are those of Kafka's ``coordinator-common`` module.
"""
