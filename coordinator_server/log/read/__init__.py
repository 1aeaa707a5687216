"""Read a shard's durable batches while it is written: newest layer first, then the segments.

Readers never lock the writer out; retention leaves the files that they hold. Imports go to
``log/layers``, ``log/write`` and to what all rooms share.
"""
