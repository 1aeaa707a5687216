"""Import from the directory of a stopped Kafka broker, and export to one.

``files.py`` reads the broker's log, ``shard.py`` and ``topics.py`` convert it, ``importer.py`` and ``exporter.py`` are the jobs.
Imports go to ``rules``, ``states``, ``layer`` and ``input``, never to another job.
"""
