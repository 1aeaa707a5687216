"""An index beside a log: the records of each group on their own, with what happened to it, and its state at some moments; and more.

    split.py     divides the batches of a shard by group
    chunk.py     a stretch of the records of one group: what the state was before it, and what has happened in it
    database.py  the SQLite database, its format, and who may write to it
    writer.py    takes batches in the order of their offsets, each once, and gives them to the tables of their topic
    groups.py    the shards of groups; group_chunks.py: their chunks
    tables/      all that is not of one group's history: members, activity, transactions, share partitions, lag
    shard_row.py how far a shard is read
    reader.py    one group: its chunks, and how to read them
    snapshot.py  one moment of an index, without the log after it
    answers.py   what happened to a group, and its state at a moment: from the index, and from the log after it
    feed.py      gives the writer the log of a directory

It is made from Kafka's batches alone, and says what a replay of the whole log says. Whoever removes it loses nothing but time.
"""
