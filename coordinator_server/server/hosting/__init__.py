"""The room of the shards that one loop hosts: how each kind is built (builders.py), when it is used (hosted.py), and what follows
the catalog: the image of topics (topic_image.py) and what shards hear of them (topic_news.py). open.py opens it, with the node of
handlers (node.py), on the loop's foundation, its wire and its cluster. The room guard, above it, gives it the authorizer and the
audit log.

Enters: the catalog's notices, timers, and messages of other shards. Leaves: runtimes that are loaded, and their counts. Child
processes of a loop start here: the cleaner and the executor. It imports the rooms cluster, exchange and wire.
"""
