"""The transaction coordinator's state machine: which transactions are open, for whom, and how they end (KIP-98, 360, 890)."""
