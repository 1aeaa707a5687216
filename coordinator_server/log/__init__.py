"""The append-only log: one journal per loop, segments per shard, compaction layers. The only writer of files.

What lies outside knows these modules alone; the contract "the seam" in pyproject.toml checks it:

    store.py        the interfaces to the log of a loop, by use
    jobs.py         what other processes find, read and write of a log
    opening.py      opens logs, and chooses how they are kept
    members.py      the rows of the nodes that share a store, and the statements on them: an interface
    errors.py, shards.py, statement_counts.py, store_state.py

A log in a directory of this machine:

    local.py        LocalLogStore: put together from the rooms below
    directory.py    lock a data directory, and recover it for several loops

    repair/         a start after a crash, ``log verify``, salvage
    read/           read shards while they are written
    layers/         what compaction has made, and what may be removed
    write/          the journal and the segments

    meta.py, storage.py, file_names.py        what all rooms share

A log in a database that nodes share:

    postgresql/     PostgresqlLog, and the membership of its nodes

Imports go down this list, and every room knows the interfaces. The contract "the rooms of the log" checks it.
"""
