"""One server of ours for all scripts of a file, over several lives: the second has other limits, and is what scripts restart
into; in the third ids of producers expire; each of the last ones has a migration policy of its own. Each file has a server of its
own, because the files of a run are in several processes, in any order.

Transcripts stand for a broker (tests/data/differential).
A script without a fresh one is played before a broker that starts for it; under CI it fails.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain

import pytest

from tests.differential.lockstep import Lockstep, Outcome
from tests.differential.playing import Archive, Stage, judge, play
from tests.differential.scripts import (
    RESTART,
    RESTARTED_CONSUMERS,
    RESTARTED_PRODUCERS,
    RESTARTED_SHARE_STATES,
    RESTARTED_SHARES,
    RESTARTED_STREAMS,
    SHARE_SNAPSHOTS,
    TIMED,
    Script,
    restarted,
    scripts_of,
)
from tests.differential.servers import (
    EXPIRING,
    FEW_CONSUMERS,
    FEW_SHARERS,
    FEW_STREAMERS,
    LIMITS,
    OTHER_LIMITS,
    PATIENT,
    UPDATES,
    Pair,
    policy,
)
from tests.differential.transcripts import COMMAND
from tests.support.kafka_jars import NoKafkaJars, bring_kafka_jars

# Scripts that wait take no processor, but those that all begin at once would be late for their own timeouts.
_AT_ONCE = 6


class Played:
    """Scripts that are played in the background, from the first that is asked for on."""

    def __init__(self, scripts: Iterable[Script], stage: Stage, at_once: int = _AT_ONCE) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="played")
        self._outcomes: dict[str, Future[None]] = {script.title: self._pool.submit(play, script, stage) for script in scripts}

    def result(self, script: Script) -> None:
        """Raises what playing it raised."""
        self._outcomes[script.title].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


class Halves:
    """Scripts whose first part has been played before both servers were started again."""

    def __init__(self, scripts: Iterable[Script], stage: Stage) -> None:
        self._begun: dict[str, Lockstep] = {}
        self._failed: dict[str, AssertionError] = {}
        # Those that came to their end before the restart.
        self._ended: dict[str, Outcome] = {}
        self._stage = stage
        for script in scripts:
            lockstep = self._begun[script.title] = stage.lockstep(script)
            try:
                outcome = lockstep.play(script.lines[: script.lines.index(RESTART)])
                if outcome.ended:
                    self._ended[script.title] = outcome
            except AssertionError as failed:
                self._failed[script.title] = failed
            if script.has_log:
                # Nobody waits there for an answer, and a connection of each is too many.
                lockstep.close()

    def move_to(self, stage: Stage) -> None:
        self._stage = stage

    def finish(self, script: Script, judged: Callable[[Script, Outcome], None] = judge) -> None:
        """Play the rest; ``judged`` says whether what came of it is what is to be seen."""
        lockstep, life = self._begun.pop(script.title), self._stage.life
        try:
            if script.title in self._failed:
                raise self._failed[script.title]
            lockstep.move_to(life.ours, None if lockstep.is_recorded else life.kafka())
            outcome = self._ended.get(script.title) or lockstep.play(script.lines[script.lines.index(RESTART) + 1 :])
            if script.has_log and not outcome.ended:
                lockstep.compare_logs()
            lockstep.assert_all_told()
        finally:
            lockstep.close()
        judged(script, outcome)
        self._stage.archive.keep(script, lockstep)


def _asked(request: pytest.FixtureRequest, scripts: Iterable[Script]) -> list[Script]:
    """Those of the scripts whose tests are to run in this file."""
    titles = {script.title for script in _all_asked(request)}
    return [script for script in scripts if script.title in titles]


def _all_asked(request: pytest.FixtureRequest) -> Iterator[Script]:
    for item in request.session.items:
        script = item.callspec.params.get("script") if hasattr(item, "callspec") and item.path == request.path else None
        if isinstance(script, Script):
            yield script


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


@pytest.fixture(scope="module")
def _pair(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Pair]:
    with Pair(tmp_path_factory.mktemp("differential"), request.config.getoption("--nodes")) as pair:
        yield pair


@pytest.fixture(scope="module")
def stage(_pair: Pair, archive: Archive, request: pytest.FixtureRequest) -> Stage:
    """The first life. A file may have properties of its own."""
    return Stage(_pair.start({**LIMITS, **getattr(request.module, "PROPERTIES", {})}), archive)


@pytest.fixture(scope="module")
def timed(stage: Stage, request: pytest.FixtureRequest) -> Iterator[Played]:
    named = chain(
        scripts_of("timing"),
        scripts_of("transaction_timeouts"),
        scripts_of("consumer_timing"),
        scripts_of("share_timing"),
        scripts_of("share_fetching"),
        scripts_of("streams_timing"),
    )
    sequences = [script for script in _all_asked(request) if script.book == TIMED.book]
    played = Played([*_asked(request, named), *sequences], stage)
    yield played
    played.close()


@pytest.fixture(scope="module")
def _second_life(_pair: Pair, stage: Stage, request: pytest.FixtureRequest) -> tuple[Stage, Halves]:
    """Nothing else uses the first life from here on: see ``pytest_collection_modifyitems``."""
    books = {
        each.book
        for each in (RESTARTED_PRODUCERS, RESTARTED_CONSUMERS, RESTARTED_SHARE_STATES, RESTARTED_SHARES, RESTARTED_STREAMS)
    }
    sequences = [script for script in _all_asked(request) if script.book in books]
    halves = Halves([*_asked(request, restarted()), *sequences], stage)
    few = {**FEW_CONSUMERS, **FEW_SHARERS, **FEW_STREAMERS}
    again = Stage(_pair.start({**OTHER_LIMITS, **few, **PATIENT, **UPDATES[1]}), stage.archive)
    halves.move_to(again)
    return again, halves


@pytest.fixture(scope="module")
def halves(_second_life: tuple[Stage, Halves]) -> Halves:
    return _second_life[1]


@pytest.fixture(scope="module")
def limited(_second_life: tuple[Stage, Halves], request: pytest.FixtureRequest) -> Iterator[Played]:
    played = Played(
        _asked(
            request,
            chain(
                scripts_of("limits"),
                scripts_of("consumer_limits"),
                scripts_of("share_limits"),
                scripts_of("share_one_update"),
                scripts_of("streams_limits"),
            ),
        ),
        _second_life[0],
    )
    yield played
    played.close()


@pytest.fixture(scope="module")
def expiring(_pair: Pair, stage: Stage, request: pytest.FixtureRequest) -> Iterator[Played]:
    """The third life."""
    third = Stage(_pair.start({**LIMITS, **EXPIRING, **UPDATES[2]}), stage.archive)
    # Those of the first file only wait.
    named = _asked(request, chain(scripts_of("transactional_id_expiration"), scripts_of("share_snapshots")))
    scripts = [*named, *(script for script in _all_asked(request) if script.book == SHARE_SNAPSHOTS.book)]
    played = Played(scripts, third, at_once=max(1, len(scripts)))
    yield played
    played.close()


@pytest.fixture(scope="module")
def stage_of(_pair: Pair, stage: Stage) -> Callable[[str], Stage]:
    """The lives of the migration policies, each from the first script on that needs it: scripts of one policy are neighbours."""
    lives: dict[str, Stage] = {}

    def stage_of(name: str) -> Stage:
        if name not in lives:
            lives[name] = Stage(_pair.start({**LIMITS, **policy(name)}), stage.archive)
        return lives[name]

    return stage_of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """In each file, scripts that take time begin first and are asked last; the second life comes after the first."""
    order = {
        "test_script": 1,
        "test_sequence": 1,
        "test_scenario": 1,
        "test_producers": 1,
        "test_consumers": 1,
        "test_share_states": 1,
        "test_shares": 1,
        "test_streams": 1,
        "test_a_script_that_uses_up_the_epochs_of_a_producer_id": 1,
        "test_timed_script": 2,
        "test_timed_producers": 2,
        "test_restart": 3,
        "test_restarted_producers": 3,
        "test_restarted_consumers": 3,
        "test_restarted_share_states": 3,
        "test_restarted_shares": 3,
        "test_restarted_streams": 3,
        "test_limited_script": 4,
        "test_expiring_script": 5,
        "test_share_snapshots": 5,
        "test_policy": 6,
    }
    here = [place for place, item in enumerate(items) if "tests/differential" in item.nodeid]
    ordered = sorted(
        (items[place] for place in here), key=lambda item: (item.path, order.get(getattr(item, "originalname", ""), 0))
    )
    for place, item in zip(here, ordered, strict=True):
        items[place] = item
