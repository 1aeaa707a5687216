"""``--again``: what an earlier run has found stays, and its survivors are tried or judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutation import __main__ as command
from tests.mutation import equivalents, report
from tests.mutation.mutants import Mutant, Site
from tests.mutation.trying import Result

SITE = Site("toy.py", 1, "f", "constant", "NumberReplacer", 0)
TOY = Mutant("toy", SITE, "x = 1", "x = 2", "x = 2\n")


class NoTrial:
    """Nothing is left to try."""

    def __init__(self, *_: object) -> None: ...

    def run(self, mutants: list[Mutant], jobs: int) -> Iterator[Result]:
        assert mutants == []
        return iter(())


@pytest.mark.parametrize("is_there", [True, False])
def test_survivors_that_were_judged_or_are_gone_are_none_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """Also when they were all that was left: the results are written in any case."""
    earlier = [Result(TOY.as_json(), "survived"), Result(TOY.as_json(), "killed")]
    (tmp_path / "found.json").write_text(json.dumps(report.as_json(earlier)))
    monkeypatch.setattr(command, "copy_tree", lambda *_: tmp_path)
    monkeypatch.setattr(command, "_same", lambda *_: TOY if is_there else None)
    monkeypatch.setattr(command, "_measured", lambda *_: None)
    monkeypatch.setattr(command, "Trial", NoTrial)
    monkeypatch.setattr(equivalents, "load", lambda: {TOY.key(): "a reason"})

    words = ["--again", str(tmp_path / "found.json"), "--json", str(tmp_path / "again.json")]
    assert command.main(command.parser().parse_args(words)) == 0

    statuses = [each["status"] for each in json.loads((tmp_path / "again.json").read_text())]
    assert statuses == ["killed", "equivalent"][: 1 + is_there]
