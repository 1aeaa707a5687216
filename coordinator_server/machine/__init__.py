"""The building blocks of a replicated state machine.

Synchronous code without I/O. A shard takes operations one at a time and returns records and a response. Time, ids and
timers are arguments. The names are those of Kafka's ``coordinator-common`` module.
"""
