"""The append-only log: one journal per loop, segments per shard, compaction layers. The only writer of files."""
