"""What compaction has made of a shard's log: layers and their checkpoints, and the removal of what they replace.

A layer holds the records that are left of all offsets before its end. Imports go to ``log/write``
and to what all rooms share.
"""
