"""Configurations of tests."""

from __future__ import annotations

from typing import Any

from coordinator_server.config import Config
from coordinator_server.config.properties import is_property, with_values


def config_with(config: Config | None = None, **values: Any) -> Config:
    """Return a configuration with these properties, whose names have underscores here,
    and else the defaults or those of ``config``.
    """
    named = {name.replace("_", "."): value for name, value in values.items()}
    assert all(map(is_property, named)), named
    return with_values(config or Config(), named)
