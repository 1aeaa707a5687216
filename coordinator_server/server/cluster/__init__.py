"""Several loops as one cluster: ownership and addresses of shards, and the catalog that all loops share.

view.py             who owns each shard, and where the nodes are: one value, replaced as a whole
nodes.py            the view that this node has, and its place in it
catalog.py          the catalog on the loop that owns its log
catalog_replica.py  the replica of the catalog on the other loops, which forward changes to the owner
catalog_roles.py    the catalog of a loop that leads or follows, and changes its role
catalog_feed.py     both ends of the feed, which connects the catalog and its replicas
operations.py       the changes that may be forwarded
link.py             messages between processes
link_transport.py   the ways that links take
node_links.py       TCP with mutual TLS between nodes; node_listener.py has their listener
presence.py         whether the process of another node is gone
messages.py         the messages between loops
effects.py          delivery of messages from shard to shard, within a loop or to a different loop
neighbours.py       the links between loops for such messages
family_news.py      notices of changes of users, ACLs and quotas, for the other rooms
open.py             opens the room
"""
