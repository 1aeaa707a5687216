"""Changes of properties while the server runs: what SIGHUP may change, and how the running server gets it.

Every part of a process reads the same ``Config`` object, and many read a property each time that they need it. So the object itself is
changed, in one place, for the properties that are declared with ``is_reloadable``. Parts that keep what they have read are told
(``server/reconfiguration.py``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import force_setattr, replace

from coordinator_server.config import Config, property_names
from coordinator_server.config_values import check, description_of
from coordinator_server.listener_settings import PREFIX


class Changes(NamedTuple):
    """A configuration that a running server can have, and the names of properties that differ: now, and after the next start."""

    config: Config
    made: list[str]
    waiting: list[str]


def changes(present: Config, wanted: Config) -> Changes:
    """Return what of ``wanted`` a server can have that runs with ``present``. Raises ConfigError if that does not fit together."""
    before, after = _values(present), _values(wanted)
    differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    made = [name for name in differing if description_of(name).is_reloadable]
    values = {name: value for name, value in before.items() if name not in made}
    values |= {name: after[name] for name in made if name in after}
    config = replace(
        present,
        listener_name={name.removeprefix(PREFIX): value for name, value in values.items() if name.startswith(PREFIX)},
        **{name.replace(".", "_"): value for name, value in values.items() if not name.startswith(PREFIX)},
    )
    check(config)
    return Changes(config, made, [name for name in differing if name not in made])


def adopt(config: Config, changed: Config) -> None:
    """Give the configuration of a running process the values of another one that ``changes`` has returned."""
    for field in Config.__struct_fields__:
        force_setattr(config, field, getattr(changed, field))


def _values(config: Config) -> dict[str, Any]:
    """Return all values by name, also those of single listeners."""
    values = {name: getattr(config, name.replace(".", "_")) for name in property_names()}
    return values | {PREFIX + name: value for name, value in config.listener_name.items()}
