"""``python -m protocol.check`` tells where declarations and schemas differ."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from protocol.check import main
from tests.support.oracle import KAFKA_FACTS, facts


def test_our_declarations_are_kafkas(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing to say about the release that they were written for."""
    assert main([str(KAFKA_FACTS / "messages.jsonl")]) == 0
    assert capsys.readouterr().out == ""


def _bump(schema: Any) -> None:
    schema["validVersions"] = "0-5"


def _unfold(schema: Any) -> None:
    schema["flexibleVersions"] = "none"


def _other_key(schema: Any) -> None:
    schema["apiKey"] = 99


def _new_field(schema: Any) -> None:
    schema["fields"].append({"name": "Mood", "type": "string", "versions": "4+"})


def _lost_field(schema: Any) -> None:
    schema["fields"].pop(1)


def _swap(schema: Any) -> None:
    schema["fields"].reverse()


def _field(name: str, value: Any) -> Callable[[Any], None]:
    def change(schema: Any) -> None:
        schema["fields"][3][name] = value

    return change


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (_bump, "HeartbeatRequest: versions '0-4', the schema has '0-5'"),
        (_unfold, "HeartbeatRequest: flexible versions '4', the schema has 'none'"),
        (_other_key, "HeartbeatRequest: key 12, the schema has 99"),
        (_new_field, "HeartbeatRequest.mood: is missing"),
        (_lost_field, "HeartbeatRequest.generation_id: is not in the schema"),
        (_swap, "HeartbeatRequest: its fields have another order than in the schema"),
        (_field("type", "bytes"), "HeartbeatRequest.group_instance_id: type 'string', the schema has 'bytes'"),
        (_field("versions", "2+"), "HeartbeatRequest.group_instance_id: versions '3-4', the schema has '2-4'"),
        (_field("nullableVersions", "4+"), "HeartbeatRequest.group_instance_id: nullable '3-4', the schema has '4'"),
        (_field("default", "x"), "HeartbeatRequest.group_instance_id: default None, the schema has 'x'"),
        (_field("ignorable", True), "HeartbeatRequest.group_instance_id: ignorable False, the schema has True"),
        (_field("tag", 7), "HeartbeatRequest.group_instance_id: tag None, the schema has 7"),
        (_field("taggedVersions", "4+"), "HeartbeatRequest.group_instance_id: tagged 'none', the schema has '4'"),
        (_field("flexibleVersions", "none"), "HeartbeatRequest.group_instance_id: never compact False, the schema has True"),
    ],
)
def test_each_difference_is_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Any], None], line: str
) -> None:
    """And the exit code is 1."""
    schemas = facts("messages.jsonl")
    change(next(schema for schema in schemas if schema["name"] == "HeartbeatRequest"))

    assert _check(tmp_path, schemas) == 1
    assert capsys.readouterr().out.splitlines() == [line]


def test_messages_on_one_side_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A new one of Kafka's, and one that Kafka no longer has."""
    schemas = facts("messages.jsonl")
    next(schema for schema in schemas if schema["name"] == "HeartbeatRequest")["name"] = "PulseRequest"

    assert _check(tmp_path, schemas) == 1
    assert capsys.readouterr().out.splitlines() == [
        "PulseRequest: is not declared",
        "HeartbeatRequest: is declared, and is not in the schemas",
    ]


def test_a_file_says_nothing_of_kinds_that_it_has_none_of(tmp_path: Path) -> None:
    """The cluster's metadata records are in another directory of Kafka's sources than the requests."""
    assert _check(tmp_path, [schema for schema in facts("messages.jsonl") if schema["type"] != "metadata"]) == 0


def test_a_range_may_be_written_in_another_way(tmp_path: Path) -> None:
    """What counts is what it means for the valid versions."""
    schemas = facts("messages.jsonl")
    heartbeat = next(schema for schema in schemas if schema["name"] == "HeartbeatRequest")
    heartbeat["flexibleVersions"] = "4-9"
    heartbeat["fields"][3]["versions"] = "3-4"

    assert _check(tmp_path, schemas) == 0


@pytest.mark.parametrize("content", [None, "no json"])
def test_a_file_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None) -> None:
    """Is another exit code, and a line that names it."""
    path = tmp_path / "schemas.jsonl"
    if content is not None:
        path.write_text(content)

    assert main([str(path)]) == 2
    assert "schemas.jsonl" in capsys.readouterr().err


def _check(tmp_path: Path, schemas: list[Any]) -> int:
    path = tmp_path / "schemas.jsonl"
    path.write_text("\n".join(map(json.dumps, schemas)))
    return main([str(path)])
