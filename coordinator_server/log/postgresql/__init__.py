"""A log in a PostgreSQL database, which several nodes share (``pip install 'coordinator-server[postgresql]'``).

    address.py      where the database is, and how a session gets in
    session.py      one connection at a time: what is known of a statement that has run, or may have
    schema.py       the tables: made, and compared with what a node expects of them
    checks.py       what is wrong with a database, before anything is written to it
    rows.py         the rows of a shard: the statements that read them, in order and without gaps
    appends.py      submits, and the resolution of those in doubt
    layers.py       layers, and copies of their files in a directory of this process
    loads.py        what is read of a shard before a node answers for it
    objects.py      the files of layers in an object store
    tails.py        the ends of shards in memory, so that the loop waits for no read
    reads.py        reads of memory, or else of the database
    reader.py       the thread for the latter
    log.py          LogStore of all these
    upkeep.py       who makes layers and removes rows: one process at a time, by a term
    removal.py      the removal of rows that layers replace, by eras; retention.py does it from time to time
    moves.py        rows that are kept, moved to an object store before that; segments.py reads them there
    job_log.py      the log for jobs; job_shard.py: JobShard over the tables
    membership.py   MembershipStore: nodes, leases and owners
    inspection.py   what the database says of itself, for operators

An append is accepted only at the epoch and the end that its shard has. An epoch is that of the owner, and a number that each
resolution raises: a statement that arrives after its outcome was resolved writes nothing. No clock of the database decides
anything. Nothing is ever cancelled, because a cancel in the wait for a standby reports success: connections are ended instead.
"""
