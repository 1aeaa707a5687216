"""The generated codecs are those of the declarations."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from protocol.codec import decode, decoder, encode, encoder
from protocol.errors import DecodeError, EncodeError
from protocol.fields import ALL_VERSIONS, Primitive
from protocol.generate import __main__ as generate
from protocol.generate import encoding
from protocol.messages.describe_groups import DescribedGroup
from protocol.messages.heartbeat import HeartbeatRequest
from protocol.schema import FieldSpec


def test_generated_code_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    """``python -m protocol.generate --check`` has nothing to say."""
    assert generate.main(["--check"]) == 0
    assert capsys.readouterr().err == ""


def test_check_names_what_differs_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stale file, a missing one and one too many all fail the check; writing puts them right."""
    monkeypatch.setattr(generate, "GENERATED", tmp_path)
    generate.main([])
    (tmp_path / "heartbeat.py").write_text("stale")
    (tmp_path / "fetch.py").unlink()
    (tmp_path / "extra.py").write_text("")
    capsys.readouterr()

    assert generate.main(["--check"]) == 1
    assert set(capsys.readouterr().err.splitlines()) == {"differs: heartbeat.py", "differs: fetch.py", "differs: extra.py"}
    assert (tmp_path / "heartbeat.py").read_text() == "stale"
    generate.main([])
    assert generate.main(["--check"]) == 0


def test_the_command_says_what_it_does(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        generate.main(["--help"])

    said = " ".join(capsys.readouterr().out.split())
    assert "writes the codecs of every declaration" in said
    assert "change nothing; fail when a file is not what would be written" in said


def test_versions_of_one_layout_share_their_code() -> None:
    """Each still says its own version when something is wrong, and goes by its own name."""
    for lookup in (decoder, encoder):
        functions: list[Any] = [lookup(HeartbeatRequest, version) for version in range(4)]
        first, second, third, fourth = functions
        assert first.__code__ is second.__code__ is third.__code__ is not fourth.__code__
        assert third.__name__ == first.__name__.replace("_v0", "_v2")
    for version in (0, 1, 2):
        with pytest.raises(DecodeError, match=f"HeartbeatRequest v{version}"):
            decode(HeartbeatRequest, version, b"")
        with pytest.raises(EncodeError, match=f"HeartbeatRequest v{version}"):
            encode(HeartbeatRequest(generation_id=2**40), version)


def field(kind: Any, *, is_array: bool = False, default: object = None) -> FieldSpec:
    """A field that may be null in every version."""
    every = ALL_VERSIONS
    return FieldSpec("x", kind, is_array, every, every, False, 0, every, every, default)


@pytest.mark.parametrize(
    ("spec", "keeps_marker"),
    [
        (field(DescribedGroup), True),
        (field(DescribedGroup, is_array=True), False),
        (field(Primitive.STRING), False),
        (field(Primitive.STRING, default="text"), True),
    ],
)
def test_a_tagged_field_that_is_not_its_default_is_not_null(spec: FieldSpec, keeps_marker: bool) -> None:
    """If the default is null; but a struct says that it is there in any case."""
    assert (encoding._not_null(spec).nullable == spec.nullable) is keeps_marker
