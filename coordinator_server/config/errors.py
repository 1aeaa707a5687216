"""What is wrong with a configuration."""

from __future__ import annotations


class ConfigError(ValueError):
    """A property is unknown or has a bad value; the message names it."""
