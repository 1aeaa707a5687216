"""What a reload changes in a running server, and what waits for the next start."""

from __future__ import annotations

import pytest

from coordinator_server.config import Config, ConfigError, property_named, property_names
from coordinator_server.config_changes import adopt, changes
from coordinator_server.config_values import load

LISTENERS = {"listeners": "PLAINTEXT://:9092,SSL://:9093"}


def test_only_properties_that_are_marked_change() -> None:
    present = load({"num.partitions": "1", "log.flush": "os"})

    found = changes(present, load({"num.partitions": "5", "node.id": "7", "max.connections": "10"}))

    assert (found.made, found.waiting) == (["num.partitions", "max.connections"], ["node.id", "log.flush"])
    assert found.config == load({"num.partitions": "5", "log.flush": "os", "max.connections": "10"})


def test_nothing_changes_if_nothing_differs() -> None:
    assert changes(Config(), Config())[1:] == ([], [])


def test_properties_of_listeners_come_change_and_go() -> None:
    present = load({**LISTENERS, "listener.name.ssl.ssl.client.auth": "required", "listener.name.ssl.ssl.cipher.suites": "a"})
    wanted = load({**LISTENERS, "listener.name.ssl.ssl.client.auth": "none", "listener.name.ssl.ssl.key.password": "b"})

    found = changes(present, wanted)

    assert found.config == wanted
    prefix = "listener.name.ssl.ssl."
    assert sorted(found.made) == [f"{prefix}cipher.suites", f"{prefix}client.auth", f"{prefix}key.password"]


def test_what_does_not_fit_the_rest_is_refused() -> None:
    """A property of a listener that only the next start would have."""
    wanted = load({**LISTENERS, "listener.name.ssl.ssl.client.auth": "none"})

    with pytest.raises(ConfigError, match="SSL is none of the listeners"):
        changes(Config(), wanted)


def test_everybody_who_has_the_configuration_sees_the_change() -> None:
    """Parts of the server read a property when they need it, from the object that they were given."""
    present = Config()
    part = {"config": present}

    adopt(present, changes(present, load({"num.partitions": "5"})).config)

    assert part["config"].num_partitions == 5


def test_what_is_fixed_by_the_directory_or_the_sockets_never_changes() -> None:
    fixed = {"node.id", "listeners", "advertised.listeners", "loops", "log.dirs", "log.flush", "log.journal.bytes"}
    fixed |= {name for name in property_names() if name.endswith("num.partitions") and name != "num.partitions"}

    assert [name for name in fixed if property_named(name).is_reloadable] == []
