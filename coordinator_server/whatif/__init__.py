"""What if: the recorded life of a group, played again with another rule.

    life.py           values: a generation of a group with its members, topics and assignment; a life
    records.py        the records of groups in batches that are about members
    classic_life.py   generations from the records of a classic group
    consumer_life.py  generations from the records of a consumer group (KIP-848): one for each target assignment
    turns.py          changes of a group, each with the generations that it took
    topics.py         how many partitions topics had, over time
    names.py          the names of the rules
    reader.py         lives from a log: puts the two and the topics together
    rules.py          the table of assignors, and how members wait under each
    membership.py     static members, longer sessions, a rebalance delay: a life with fewer changes
    silences.py       shorter sessions: for how long there was no sign of life of a member
    measured.py       the silences that the server has measured, and when it has
    figures.py        what a rebalance costs, and how certain that is
    play.py           plays a life by a rule
    verdict.py        one group: as it was, as it would have been, whether the rule in force gives what was recorded
    advice.py         what to change, in words, with its evidence
    shards.py         all groups of a shard, for the job of all groups

Nothing of it changes a log. The assignors are those of the client library and of the coordinator.
"""
