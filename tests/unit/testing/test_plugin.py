"""The lines of pytest's configuration that the fixtures read."""

from __future__ import annotations

from typing import Any, cast

import pytest

from coordinator_server.testing import plugin


class Config:
    """The part of pytest's configuration that is asked."""

    def __init__(self, **lines: list[str]) -> None:
        self._lines = lines

    def getini(self, name: str) -> Any:
        return self._lines[name]


def read(**lines: list[str]) -> pytest.Config:
    return cast(pytest.Config, Config(**lines))


def test_spaces_around_names_and_values_do_not_count() -> None:
    config = read(coordinator_properties=["group.max.size = 7"], coordinator_topics=["orders: 6", "x:1"])

    assert plugin._ini_properties(config) == {"group.max.size": "7"}
    assert plugin._ini_topics(config) == {"orders": 6, "x": 1}


@pytest.mark.parametrize("line", ["group.max.size", "group.max.size=", "=7"])
def test_a_property_has_a_name_and_a_value(line: str) -> None:
    with pytest.raises(pytest.UsageError, match=f"takes NAME=VALUE, not '{line}'"):
        plugin._ini_properties(read(coordinator_properties=[line]))


@pytest.mark.parametrize("line", ["orders", "orders:", ":6", "orders:many", "orders:-1"])
def test_a_topic_has_a_name_and_partitions(line: str) -> None:
    with pytest.raises(pytest.UsageError, match="takes NAME:PARTITIONS, not '?" + line):
        plugin._ini_topics(read(coordinator_topics=[line]))


@pytest.mark.parametrize("argument", [{"topics": ["orders:6"]}, {"properties": ["group.max.size=7"]}])
def test_an_argument_that_is_no_mapping_is_refused_with_an_example(argument: dict[str, Any]) -> None:
    """Lines, as in the configuration, are what people try."""
    [name] = argument

    with pytest.raises(pytest.UsageError, match=rf"@pytest.mark.coordinator: {name} is a mapping, such as "):
        plugin._check(argument, "@pytest.mark.coordinator")
