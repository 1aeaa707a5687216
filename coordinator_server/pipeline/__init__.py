"""Jobs over the log that run outside the server: compact, replay, verify, history, import and export.

This is the only package that imports pyspark, pyarrow and numpy. Each job has a room of its own, and no job imports another. All
jobs may import ``rules`` and ``transactions``, and below them ``states``, ``layer``, ``input`` and ``spark``, which do not import
each other; below all are ``progress``, ``job_lock``, ``locations`` and ``errors``.
Only modules named ``spark`` and the room ``spark`` import pyspark.
"""
