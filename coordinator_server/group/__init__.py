"""Group membership as a replicated state machine: the classic protocol (KIP-62, 345, 394, 559, 800, 814) and its offsets."""
