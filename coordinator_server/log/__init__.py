"""The append-only log: one journal per loop, segments per shard, compaction layers. The only writer of files.

    local.py        LocalLogStore: the log of this machine, put together from the rooms below
    store.py        the interface that the runtime knows
    directory.py    lock a data directory, and recover it for several loops

    repair/         a start after a crash, ``log verify``, salvage
    read/           read shards while they are written
    layers/         what compaction has made, and what may be removed
    write/          the journal and the segments

    meta.py, storage.py, file_names.py, errors.py, shards.py        what all rooms share

Imports go down this list. The contract "the rooms of the log" in pyproject.toml checks it.
"""
