"""Every sync is missed when it is dropped:
for each place in the code that syncs there is a power loss that breaks a promise without it.

A place that no piece of work reaches fails the last test, so a new sync needs a power loss that shows what it is for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import pytest

from coordinator_server.log.write.journal_writer import Sync
from tests.property import test_log_power_loss, test_log_shares
from tests.property.test_power_loss_everywhere import WORKS
from tests.support.dropped_syncs import ROOT, SYNCING, Place, Watch, shown
from tests.support.power import lose_power_everywhere

IMAGES = 4

LOSE_POWER: dict[str, Callable[..., None]] = {
    "log": test_log_power_loss.lose_power,
    "log without syncs": partial(test_log_power_loss.lose_power, sync=Sync.NEVER),
    "log of several loops": test_log_shares.lose_power,
}
SEEDS = 150
PACKAGES = (ROOT / "coordinator_server" / "log", ROOT / "coordinator_server" / "pipeline")
# Calls in functions whose syncs no power loss here shows, and why.
SET_ASIDE = "power is lost at every call of it: tests/unit/log/repair/test_set_aside.py"
PULLED = "the database still has what a pull loses; the identity, without which there is no log, comes last"
OTHER_REASONS = {
    ("directory.py", "claim_observed", "make_dir_durably"): "nothing is in it yet: the cluster is followed anew",
    ("journal.py", "_new_file", "sync"): "a full disk shows here, where it is no failed sync: tests/unit/log/write/test_spare.py",
    ("journal_writer.py", "_work", "write_durably"): "it is in a thread: tests/unit/log/write/test_journal_writer.py",
    ("local.py", "_start", "write_and_sync"): "nothing waits at a start: it returns where the shards end",
    ("set_aside.py", "set_aside", "replace_file"): SET_ASIDE,
    ("set_aside.py", "_carry_out", "make_dir_durably"): SET_ASIDE,
    ("set_aside.py", "_carry_out", "sync_dir"): SET_ASIDE,
    ("set_aside.py", "_remove_journals", "sync_dir"): SET_ASIDE,
    ("set_aside.py", "_keep_copy", "replace_file"): SET_ASIDE,
    ("set_aside.py", "_cut_segments", "sync_dir"): SET_ASIDE,
    ("set_aside.py", "_cut_segments", "sync_file"): SET_ASIDE,
    ("store.py", "begin", "make_dir_durably"): PULLED,
    ("store.py", "close", "sync_dir"): PULLED,
    ("store.py", "_end_file", "sync"): PULLED,
    ("output.py", "open_output", "make_dir_durably"): "the lock is a real file: tests/unit/pipeline/history/test_history.py",
}
STORAGE = "coordinator_server/log/storage.py"


def plays(images: int, seeds: int) -> Mapping[str, Callable[[Watch], None]]:
    """Everything that loses power, by name; the quick ones first."""

    def everywhere(name: str, watch: Watch) -> None:
        lose_power_everywhere(WORKS[name](), watch.disk, images)

    def at_random(name: str, watch: Watch) -> None:
        for seed in range(seeds):
            LOSE_POWER[name](seed, make_disk=watch.disk)

    return {name: partial(everywhere, name) for name in WORKS} | {name: partial(at_random, name) for name in LOSE_POWER}


@cache
def reached() -> dict[Place, list[str]]:
    """The places that sync, and which plays reach them."""
    found: dict[Place, list[str]] = {}
    for name, play in plays(0, 25).items():
        watch = Watch()
        play(watch)
        for place in watch.seen:
            found.setdefault(place, []).append(name)
    return found


def is_missed(place: Place) -> bool:
    """Whether a play fails when the syncs of this place are dropped."""
    for name in reached()[place]:
        try:
            plays(IMAGES, SEEDS)[name](Watch(place))
        except Exception:  # noqa: BLE001 - whatever way a promise is broken
            return True
    return False


class Call(NamedTuple):
    """A call of something that syncs: the function that it is in, what is called, and its lines."""

    path: str
    function: str
    called: str
    lines: range

    @property
    def other_reason(self) -> str | None:
        return OTHER_REASONS.get((Path(self.path).name, self.function, self.called))


def calls_in(path: Path) -> Iterator[Call]:
    text = path.read_text()
    # Every process of a test run asks this of all files, and parsing is what takes time.
    for function in ast.walk(ast.parse(text)) if SYNCING.search(text) else ():
        if isinstance(function, ast.FunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and SYNCING.search(name := called(node)):
                    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                    yield Call(str(path.relative_to(ROOT)), function.name, name, lines)


def called(call: ast.Call) -> str:
    """The name of what is called, without what it belongs to."""
    function = call.func
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


CALLS = [
    call for package in PACKAGES for path in sorted(package.rglob("*.py")) for call in calls_in(path) if call.path != STORAGE
]


@pytest.mark.parametrize("path", [STORAGE, *dict.fromkeys(call.path for call in CALLS)])
def test_a_dropped_sync_is_missed(path: str) -> None:
    """In each place of the file, by one play at least."""
    excused = {(call.path, line) for call in CALLS if call.other_reason for line in call.lines}
    places = sorted(place for place in reached() if place[0].path == path and (path, place[0].number) not in excused)

    assert [shown(place) for place in places if not is_missed(place)] == []


def test_every_sync_is_reached() -> None:
    """By a play, or it has another reason."""
    reached_lines = {(line.path, line.number) for place in reached() for line in place}
    missing = [call for call in CALLS if not any((call.path, line) in reached_lines for line in call.lines)]

    assert [call for call in missing if not call.other_reason] == []


def test_every_other_reason_is_of_a_call() -> None:
    """That exists."""
    assert {(Path(call.path).name, call.function, call.called) for call in CALLS if call.other_reason} == set(OTHER_REASONS)
