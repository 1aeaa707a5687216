"""The nodes that share one store: which of them live, who owns which shard, and until when an owner may answer.

store.py        the rows that nodes share, and the statements on them: an interface
leases.py       for how long others have been silent
plan.py         which shards a node takes and releases, from the rows
membership.py   one node: joins, renews, marks the dead, takes, releases
"""
