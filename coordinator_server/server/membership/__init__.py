"""The nodes that share one store: which of them live, who owns which shard, and until when an owner may answer.

log/members.py has the rows that nodes share, and the statements on them.

leases.py       for how long others have been silent
plan.py         which shards a node takes and releases, from the rows
membership.py   one node: joins, renews, marks the dead, takes, releases
"""
