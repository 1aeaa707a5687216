"""Share groups (KIP-932): their records as state, and heartbeats in steps that return records."""
