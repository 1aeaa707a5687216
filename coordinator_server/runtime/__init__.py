"""The generic CoordinatorRuntime: drives replicated state machines over a log. It knows shards, and not what they hold."""
