"""The kernel of the newer groups: what consumer groups (KIP-848) and share groups (KIP-932) do alike.

A group type gives it the row of its record types (``records.py``), its settings, its assignors and its reconciliation.
"""
