"""The command config: what an operator reads, and what a script does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator_server.cli import main
from coordinator_server.config.properties import property_named, property_names


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["config", *words]) == 0
    return capsys.readouterr().out


def test_every_property_has_its_line_and_its_description(capsys: pytest.CaptureFixture[str]) -> None:
    """In lines that fit a page, but for values."""
    lines = printed(capsys).splitlines()

    assert [line.partition("=")[0] for line in lines if line and not line.startswith(" ")] == property_names()
    assert max(len(line) for line in lines if line.startswith(" ")) <= 100
    text = " ".join(line.strip() for line in lines)
    assert all(property_named(name).description in text for name in property_names())


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("offsets.retention.minutes", "Default (7 days), as in Kafka. Takes a whole number of minutes from 1 to 2147483647."),
        ("log.cleaner.delete.retention.ms", "Default (1 day), as in Kafka. Takes a whole number of milliseconds, at least 0."),
        ("num.partitions", "Default, as in Kafka. Takes a whole number of partitions from 1 to 2147483647."),
        ("log.flush", "Default. Not in Kafka. Takes always or os."),
        ("queued.max.request.bytes", "Default (64 MiB); Kafka's is -1. Takes a whole number of bytes, at least -1."),
        ("node.id", "Default; Kafka has none. Takes a whole number, at least 0."),
        ("topics", "Default. Not in Kafka. Takes NAME or NAME:PARTITIONS, separated by commas, such as orders:6,payments:3."),
    ],
)
def test_a_property_has_its_default_origin_unit_and_allowed_values(
    name: str, fact: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fact in " ".join(printed(capsys, name).split())


def test_a_value_that_is_set_has_its_default_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["topics", "log.provenance", "socket.request.max.bytes", "advertised.listeners"]
    override = ["topics=orders", "log.provenance=false", "socket.request.max.bytes=5", "advertised.listeners=x:1"]
    lines = printed(capsys, *words, *(word for each in override for word in ("--override", each))).splitlines()

    assert [line for line in lines if "=" in line] == override
    assert [line.strip().partition(" Takes")[0] for line in lines if "Set by" in line] == [
        "Set by --override; the default is empty. Not in Kafka.",
        "Set by --override; the default is true. Not in Kafka.",
        "Set by --override; the default is 16777216 (16 MiB); Kafka's is 104857600 (100 MiB).",
        "Set by --override; the default is empty, as in Kafka.",
    ]


def test_values_alone_are_lines_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, "--values").splitlines()

    assert [line.partition("=")[0] for line in lines] == property_names()
    assert printed(capsys, "--values", "loops", "log.provenance") == "loops=1\nlog.provenance=true\n"


def test_properties_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    """With everything that is printed, and a name in place of a sentence."""
    found = json.loads(printed(capsys, "--json", "--override", "num.partitions=7"))

    assert list(found) == property_names()
    assert found["num.partitions"] == {
        "value": 7,
        "is_default": False,
        "default": 1,
        "description": property_named("num.partitions").description,
        "origin": "kafka",
        "kafka_default": 1,
        "type": "int",
        "unit": "partitions",
        "minimum": 1,
        "maximum": 2**31 - 1,
        "values": [],
        "form": None,
        "is_secret": False,
        "is_reloadable": True,
        "source": "--override",
    }
    assert (found["log.flush"]["values"], found["log.flush"]["origin"]) == (["always", "os"], "ours")
    assert found["node.id"]["origin"] == "kafka-other-default"
    assert found["loops"]["is_default"]


def test_values_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "--values", "--json", "--override", "num.partitions=7", "num.partitions", "log.flush")

    assert json.loads(shown) == {"num.partitions": 7, "log.flush": "always"}


def test_a_value_says_where_it_is_from(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what is ignored is named on stderr."""
    monkeypatch.setenv("KAFKA_LOG_FLUSH", "os")
    monkeypatch.setenv("KAFKA_LOG_FLSH", "os")
    (tmp_path / "a.toml").write_text("loops = 2\n")

    assert main(["config", "--config", str(tmp_path / "a.toml"), "loops", "log.flush"]) == 0

    out, err = capsys.readouterr()
    assert f"Set by {tmp_path}/a.toml:1; the default is 1." in " ".join(out.split())
    assert "Set by KAFKA_LOG_FLUSH; the default is always." in out
    assert err == "coordinator-server: KAFKA_LOG_FLSH: unknown property log.flsh is ignored; did you mean log.flush?\n"


def test_properties_of_listeners_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    name = "listener.name.plaintext.ssl.client.auth"

    assert f"\n{name}=required\n" in printed(capsys, "--override", f"{name}=required")


def test_the_reference_page_is_the_one_of_the_properties(capsys: pytest.CaptureFixture[str]) -> None:
    """``make generate`` writes it."""
    page = Path(__file__).parents[3] / "docs/properties.md"

    assert printed(capsys, "--markdown") == page.read_text()


def test_an_unknown_name_is_refused_with_the_nearest_known_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "loops", "num.partition"]) == 2

    assert "unknown property num.partition; did you mean num.partitions?" in capsys.readouterr().err
