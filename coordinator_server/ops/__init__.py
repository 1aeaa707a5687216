"""Operation of a running server: logs (later also metrics and health)."""
