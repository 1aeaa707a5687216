"""What a reload changes in a running server, and what waits for the next start."""

from __future__ import annotations

import re

import pytest

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.changes import changes
from coordinator_server.config.load import load
from coordinator_server.config.properties import property_named, property_names, with_values
from tests.support.server import ROOT

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

    present.live.adopt(changes(present, load({"num.partitions": "5"})).config.live)

    assert part["config"].live.num_partitions == 5


def test_what_is_fixed_by_the_directory_or_the_sockets_never_changes() -> None:
    fixed = {"node.id", "listeners", "advertised.listeners", "loops", "log.dirs", "log.flush", "log.journal.bytes"}
    fixed |= {name for name in property_names() if name.endswith("num.partitions") and name != "num.partitions"}

    assert [name for name in fixed if property_named(name).is_reloadable] == []


def test_only_adopt_writes_what_sighup_changes() -> None:
    """Code that sets another value would win over the file until the next reload."""
    files = [path for path in (ROOT / "coordinator_server").rglob("*.py") if path.parent.name != "config"]
    written = [str(path) for path in files if re.search(r"\blive\.\w+ [-+*|]?= ", path.read_text())]

    assert len(files) > 500
    assert written == []


def test_a_copy_with_other_values_changes_alone() -> None:
    present = Config()

    copy = with_values(present, {"log.flush": "os"})
    copy.live.adopt(load({"num.partitions": "5"}).live)

    assert (copy.log.log_flush, copy.live.num_partitions) == ("os", 5)
    assert (present.log.log_flush, present.live.num_partitions) == ("always", 1)
