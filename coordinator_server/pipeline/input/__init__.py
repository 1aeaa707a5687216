"""What all jobs read: the shards of a data directory, the files of a shard, and the batches, records and columns of a file.

``sealing.py`` first brings everything durable into sealed segments. This room imports no job, no rule and no state.
"""
