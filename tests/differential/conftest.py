"""One server of ours for all scripts of a file, over two lives: the second has other limits, and is what restart.txt restarts into.

Transcripts stand for a broker (tests/data/differential). A script without a fresh one is played before a broker that starts for it; under CI it fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.differential.lockstep import Lockstep
from tests.differential.playing import Archive, Stage, judge, play
from tests.differential.scripts import RESTART, Script, scripts_of
from tests.differential.servers import LIMITS, OTHER_LIMITS, Pair
from tests.differential.transcripts import COMMAND
from tests.support.kafka_jars import NoKafkaJars, bring_kafka_jars

# Scripts that wait take no processor, but those that all begin at once would be late for their own timeouts.
_AT_ONCE = 6


class Played:
    """Scripts that are played in the background, from the first that is asked for on."""

    def __init__(self, titles: set[str], name: str, stage: Stage) -> None:
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix=name)
        wanted = [script for script in scripts_of(name) if script.title in titles]
        self._outcomes: dict[str, Future[None]] = {
            script.title: self._pool.submit(play, script, stage, is_timed=True) for script in wanted
        }

    def result(self, script: Script) -> None:
        """Raises what playing it raised."""
        self._outcomes[script.title].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


class Halves:
    """Scripts whose first part has been played before both servers were started again."""

    def __init__(self, titles: set[str], stage: Stage) -> None:
        self._begun: dict[str, Lockstep] = {}
        self._stage = stage
        for script in scripts_of(RESTART):
            if script.title in titles:
                lockstep = self._begun[script.title] = stage.lockstep(script)
                lockstep.play(script.lines[: script.lines.index(RESTART)])

    def move_to(self, stage: Stage) -> None:
        self._stage = stage
        for lockstep in self._begun.values():
            lockstep.move_to(stage.life.ours, None if lockstep.is_recorded else stage.life.kafka())

    def finish(self, script: Script) -> None:
        """Play the rest."""
        lockstep = self._begun.pop(script.title)
        try:
            outcome = lockstep.play(script.lines[script.lines.index(RESTART) + 1 :])
            lockstep.assert_all_told()
        finally:
            lockstep.close()
        judge(script, outcome)
        self._stage.archive.keep(script, lockstep)


def _titles(request: pytest.FixtureRequest) -> set[str]:
    """Of the scripts whose tests are to run."""
    calls = (getattr(item, "callspec", None) for item in request.session.items)
    return {call.params["script"].title for call in calls if call is not None and isinstance(call.params.get("script"), Script)}


@pytest.fixture(scope="session")
def archive(request: pytest.FixtureRequest) -> Iterator[Archive]:
    """The transcripts; those that were recorded are written in the end."""
    option = request.config.getoption
    archive = Archive(is_live=option("--live"), is_recording=option("--record"))
    yield archive
    archive.write()


@pytest.fixture(autouse=True)
def _has_transcript(request: pytest.FixtureRequest, archive: Archive) -> None:
    """A script that nobody has played before a broker since it changed is played there now, and should be recorded."""
    script = request.node.callspec.params.get("script") if hasattr(request.node, "callspec") else None
    if isinstance(script, Script) and script.is_recorded and not archive.is_live and archive.fresh(script) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no fresh transcript of what Kafka says to it: {COMMAND}")
        try:
            bring_kafka_jars()
        except NoKafkaJars as why:
            pytest.fail(f"no fresh transcript of what Kafka says to it: {COMMAND}, where there is Java ({why})")
        request.node.warn(pytest.PytestWarning(f"no fresh transcript of what Kafka says to it, so a broker was asked: {COMMAND}"))


@pytest.fixture(scope="session")
def _pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    with Pair(tmp_path_factory.mktemp("differential")) as pair:
        yield pair


@pytest.fixture(scope="session")
def stage(_pair: Pair, archive: Archive) -> Stage:
    """The first life."""
    return Stage(_pair.start(LIMITS), archive)


@pytest.fixture(scope="session")
def timed(stage: Stage, request: pytest.FixtureRequest) -> Iterator[Played]:
    played = Played(_titles(request), "timing", stage)
    yield played
    played.close()


@pytest.fixture(scope="session")
def _second_life(_pair: Pair, stage: Stage, request: pytest.FixtureRequest) -> tuple[Stage, Halves]:
    """Nothing else uses the first life from here on: see ``pytest_collection_modifyitems``."""
    halves = Halves(_titles(request), stage)
    again = Stage(_pair.start(OTHER_LIMITS), stage.archive)
    halves.move_to(again)
    return again, halves


@pytest.fixture(scope="session")
def halves(_second_life: tuple[Stage, Halves]) -> Halves:
    return _second_life[1]


@pytest.fixture(scope="session")
def limited(_second_life: tuple[Stage, Halves], request: pytest.FixtureRequest) -> Iterator[Played]:
    played = Played(_titles(request), "limits", _second_life[0])
    yield played
    played.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Scripts that take time begin first and are asked last; the second life comes after the first."""
    order = {
        "test_script": 1,
        "test_sequence": 1,
        "test_scenario": 1,
        "test_timed_script": 2,
        "test_restart": 3,
        "test_limited_script": 4,
    }
    here = [place for place, item in enumerate(items) if "tests/differential" in item.nodeid]
    ordered = sorted((items[place] for place in here), key=lambda item: order.get(getattr(item, "originalname", ""), 0))
    for place, item in zip(here, ordered, strict=True):
        items[place] = item
