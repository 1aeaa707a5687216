"""The generic CoordinatorRuntime: drives replicated state machines over a log. It knows shards, not groups."""
