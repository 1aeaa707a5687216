"""Make records durable: the journal, and the segments that are written behind it.

A submit runs on the caller's loop (submit.py), slow work in the worker's thread (maintenance.py,
spare.py). Imports go only to what all rooms share: ``file_names``, ``storage``, ``errors``,
``shards``.
"""
