"""The jobs as plain PySpark applications, for ``spark-submit``: a file each, with the options of the command of its name.

PYSPARK_PYTHON=.venv/bin/python spark-submit --master spark://head:7077 …/coordinator_server/apps/compact.py --data-dir /shared/data
"""
