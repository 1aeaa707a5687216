"""Backups of a data directory, of a running server, too, and directories made from them.

cut.py       asks the server for one moment of all shards, and has it sealed
contents.py  the manifest of a backup, and what of a shard belongs into it
take.py      copies into the directory of the backup what is new
restore.py   makes a data directory from a backup
"""
