"""Groups and their offsets as a replicated state machine."""
