"""Backups of a log, of a running server, too. ``files/restore.py`` makes a data directory from one.

cut.py       asks the server for one moment of all shards, and has it written out
contents.py  the manifest of a backup
take.py      copies into the directory of the backup what is new
"""
