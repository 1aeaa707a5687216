"""Spark itself: Java, the session, and tasks that run work on shards. It knows no job.

Jobs import it from modules that are named ``spark``; the command line imports those only when a job runs on Spark.
"""
