"""Jobs about the files of a data directory, which no server has: it is new, or a broker's. They alone know the names of files.

kafka/      from and to the directory of a stopped broker
restore.py  makes a data directory from a backup
"""
