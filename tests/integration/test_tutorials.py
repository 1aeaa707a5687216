"""The tutorials do what they print. That of the first hour installs the package: ``.ci/run`` plays it, over the wheel."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.play_page import Player, environment_of
from tests.support.server import ROOT

FIRST_HOUR = "first-hour"
PAGES = {path.stem: path for path in sorted((ROOT / "docs" / "tutorials").glob("*.md"))}


@pytest.mark.parametrize("name", [name for name in PAGES if name != FIRST_HOUR])
def test_a_tutorial_does_what_it_prints(name: str, tmp_path: Path) -> None:
    with Player(tmp_path, environment_of(tmp_path, None)) as player:
        assert list(player.play(PAGES[name].read_text()))


def test_the_first_hour_is_played_over_the_wheel() -> None:
    assert f"scripts/play_page.py docs/tutorials/{FIRST_HOUR}.md --wheel" in (ROOT / ".ci" / "run").read_text()


def test_the_site_has_every_tutorial() -> None:
    shown = (ROOT / "mkdocs.yml").read_text()
    assert [name for name in PAGES if f"- tutorials/{name}.md\n" not in shown] == []
