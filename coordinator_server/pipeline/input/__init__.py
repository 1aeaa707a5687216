"""What all jobs read: the shards of a data directory, the files of a shard, and the batches, records and columns of a file.

``sealing.py`` first has everything durable sealed for jobs, or written out for readers.
This room imports no job, no rule and no state.
"""
