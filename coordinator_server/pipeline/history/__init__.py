"""The history of every group as Parquet tables: an append-only export of the log, brought up to date by each run.

positions ─ what is new of each shard ─► extract ─► Parquet files in an attempt ─► one commit file ─► renamed into the tables
"""
