"""What an index has beside the chunks of groups: one file for each kind of thing, with how its rows are written, and read.

    activity.py           how many records each group had, minute by minute
    memberships.py        which groups a client belonged to, and when
    transactions.py       each transaction of a transactional id: when, what, how it ended
    group_writes.py       what transactions wrote for groups, and which of them are open in the groups' log
    share_partitions.py   states of share partitions, what is not settled, and how that was minute by minute
    end_offsets.py        the sampled ends of partitions
    lags.py               the last commits of each position, and the lag of each group now

Writers take batches in the order of their offsets, and write on request, in one transaction with the position of the
shard (``writer.py``). Rows know the offset at which they have ended, so that retention and another log take them away.
"""
