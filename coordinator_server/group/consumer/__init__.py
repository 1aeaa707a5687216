"""Consumer groups: the consumer rebalance protocol (KIP-848)."""
