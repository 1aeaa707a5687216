"""The contents of a new layer: record batches, their digest, and the checkpoint.

Compaction and the import from Kafka both write layers with it. This room imports no job and no other room.
"""
