"""The history of every group as Parquet tables: a job that adds the records of the log that are new since its last run.

    positions ─ new records of each shard ─► extract ─► Parquet files in an attempt ─► one run file ─► renamed into the tables

Imports go to ``rules``, ``transactions``, ``states``, ``input`` and ``spark``, never to another job.
"""
