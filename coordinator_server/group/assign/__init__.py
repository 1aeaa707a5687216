"""Assignors: pure functions from the members of a group and its topics to a target assignment (KIP-848)."""
