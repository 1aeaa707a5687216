"""What operators see of a running server: logs (and, later, metrics and health)."""
