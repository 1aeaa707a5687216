"""The state of a shard of each kind, rebuilt from its log by the server's own state machine.

``state.py`` is the interface; the other modules implement it for a kind, and ``changes.py`` adds who changed what. ``rules.py``
says which kind has which state. This room imports no job and no other room.
"""
