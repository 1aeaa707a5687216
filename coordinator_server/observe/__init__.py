"""Follow the internal topics of a live cluster into a directory of our own format. It only reads there.

cluster.py      the cluster: its identity, the leaders of the partitions, its topics
fetcher.py      a leader's partitions: Fetch, and what to do with each answer
partition.py    one partition: where it is, and what an answer means; no I/O
dense.py        fetched batches, without gaps between them
epochs.py       where the leader epochs of a log begin, for truncation (KIP-595)
directory.py    the log of the directory: appends, cuts, and what is known of it
facts.py        what is known of each shard, and kept beside the log
topics.py       the cluster's topics as records of our catalog
operations.py   control.sock
observer.py     all of it together
sampler.py      samples the ends of partitions; end_offsets.py: their files
exporter.py     answers scrapes, in a process of its own; metrics.py: what they say
"""
