"""How records become durable: the journal, the segments behind it, and what does the work on the loop and beside it.

It knows one shard's files at a time and nothing of compaction or repair. It imports only what all rooms share (``log/*.py`` that
`log/__init__.py` lists as common).
"""
