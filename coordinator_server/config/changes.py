"""What a reload (SIGHUP) changes of a running configuration, and what waits for the next start."""

from __future__ import annotations

from typing import NamedTuple

from coordinator_server.config.config import Config
from coordinator_server.config.listener_settings import PREFIX, given_values
from coordinator_server.config.load import check
from coordinator_server.config.names import description_of
from coordinator_server.config.properties import with_values


class Changes(NamedTuple):
    """A configuration that a running server can have, and the names of properties that differ: now, and after the next start."""

    config: Config
    made: list[str]
    waiting: list[str]


def changes(present: Config, wanted: Config) -> Changes:
    """Return what of ``wanted`` a server can have that runs with ``present``. Raises ConfigError if that does not fit together."""
    before, after = given_values(present), given_values(wanted)
    differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    made = [name for name in differing if description_of(name).is_reloadable]
    values = {name: value for name, value in before.items() if name not in made}
    values |= {name: after[name] for name in made if name in after}
    of_listeners = {name.removeprefix(PREFIX): value for name, value in values.items() if name.startswith(PREFIX)}
    config = with_values(present, {**values, "listener.name": of_listeners})
    check(config)
    return Changes(config, made, [name for name in differing if name not in made])
