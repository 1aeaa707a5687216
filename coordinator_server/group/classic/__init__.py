"""The classic group protocol (KIP-62, 345, 394, 559, 800, 814)."""
