"""Several loops as one cluster: who owns what and where it is reached, and what belongs to all of them.

nodes.py            the loops as the nodes that clients see; which loop owns which shard
catalog.py          what every loop knows of the whole cluster; at loop 0, which owns its log
catalog_replica.py  the same at the other loops, which forward changes to loop 0
catalog_feed.py     loop 0's end of cluster.sock, and the others'
operations.py       the changes that may be forwarded
link.py             messages between processes, over a Unix socket
messages.py         the messages of cluster.sock
effects.py          the way of a message from shard to shard: within a loop, or to another one
neighbours.py       the links between loops for such messages
"""
