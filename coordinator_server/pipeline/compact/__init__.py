"""Compaction: each shard's log becomes one new layer.

``run.py`` compacts a data directory, ``engine.py`` one shard. ``keyed.py`` and ``folded.py`` say which records are kept;
``last_places.py`` finds the last record of each of any number of keys. ``vector_engine.py`` and ``shuffle.py`` do the same
as ``keyed.py`` faster; ``spark.py`` runs it on a cluster.
Imports go to ``rules``, ``states``, ``layer``, ``input`` and ``spark``, never to another job.
"""
