"""The named scripts: files of titles and lines, in the language of tests/scenarios, without what comes of them:
the other server says that.

== the rule it is about
differs 2                            the listed differences that it shows, all of them and no others
> A join g protocols=range:x v=5     a client's request
> A beat g topics=t                 that of a member of a consumer group (consuming.py has these, producing.py those of producers)
> describe g h                       a request of nobody: describe, list, find (coordinators), topics, create, grow, remove
                                     (topics), configs, alter, resources, quotas, quota
> until A                            time passes until none of A's requests is parked
> until g Empty                      … until the group is in that state
> pause 1500                         … for 1500 ms: only to show that nothing happens
> shares, initialize …               what share groups and their brokers ask (sharing.py, share_states.py)
> streams, streamers …               what members of streams groups ask (streaming.py)
> exhaust P                          InitProducerId, until only one epoch of the producer's id is left
> restart                            both servers are stopped and started again, with other limits (restart.txt)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from tests.differential.consumer_sequences import consumer_sequence, restarted_consumer_sequence
from tests.differential.producer_sequences import producer_sequence, restarted_sequence, timed_sequence
from tests.differential.sequences import sequence
from tests.differential.servers import is_of_consumers, is_of_shares, is_of_streams
from tests.differential.share_group_sequences import restarted_share_sequence, share_sequence
from tests.differential.share_sequences import restarted_share_state_sequence, share_state_sequence
from tests.differential.streams_sequences import restarted_streams_sequence, streams_sequence
from tests.scenarios.transcript import Scenario, scenarios

SCRIPTS: Final = Path(__file__).parent / "scripts"
SCENARIOS: Final = Path(__file__).parents[1] / "scenarios"
RESTART: Final = "restart"
RESTARTED: Final = (RESTART, "transaction_restarts", "consumer_restart", "streams_restart")
SHARES_RESTARTED: Final = ("share_restart", "share_state_restart")
# Files of scripts that a broker takes long for, and that are not recorded.
LONG: Final = ("exhaustion", "consumer_waiting")
# What time decides, and whose log time goes on to change.
# A broker that fetches writes the leader epoch of its own partition into the state.
_WITHOUT_LOG: Final = {"scripts/timing", "scripts/limits", "scripts/restart", "scripts/share_fetching"}
# What only a test on a shard can do, and what takes time.
_NOT_A_CLIENT: Final = {
    "wait",
    "jump",
    "hold",
    "flush",
    "release",
    "fail",
    "restart",
    "unload",
    "why",
    "expiring",
    "deliver",
    "exhaust",
    "abort",
}
# The listed differences that a scenario shows.
_DIFFERS: Final[dict[str, frozenset[int]]] = {
    "deletion: so does one whose members are about to be known to the log": frozenset({25}),
    "join: a protocol that a member names twice counts once, with the metadata of the first": frozenset({14}),
    "join: a second join of the same member is the one that is answered when the phase is over": frozenset({1}),
    "leave: one that waits for its assignment and leaves is told that it is unknown": frozenset({2}),
}


class Script(NamedTuple):
    """A named script; ``differs`` are the numbers of the listed differences that it shows. ``book`` is where its transcript is."""

    title: str
    lines: list[str]
    book: str
    differs: frozenset[int] = frozenset()

    @property
    def is_recorded(self) -> bool:
        """Random sequences are without end: some of them have a transcript."""
        is_sequence = any(self.book == each.book for each in SEQUENCES)
        return self.title in _RECORDED_SEQUENCES if is_sequence else not self.is_long

    @property
    def is_long(self) -> bool:
        return self.book.removeprefix("scripts/") in LONG

    @property
    def has_consumers(self) -> bool:
        """Whether groups are described as consumer groups, too, and topics must be known to coordinators before the next line."""
        return is_of_consumers(self.book)

    @property
    def has_shares(self) -> bool:
        """Whether groups are described as share groups, too, and the log of share state is compared."""
        return is_of_shares(self.book)

    @property
    def has_streams(self) -> bool:
        """Whether groups are described as streams groups, too."""
        return is_of_streams(self.book)

    @property
    def has_log(self) -> bool:
        """Whether the logs can be compared in the end."""
        return self.book not in _WITHOUT_LOG

    @property
    def prefix(self) -> str:
        """In front of its group ids."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()) + "-"


class Sequences(NamedTuple):
    """Random sequences of one kind. Those of ``seeds`` have a transcript."""

    name: str
    drawn: Callable[[int], list[str]]
    seeds: range
    book: str

    def of(self, seed: int) -> Script:
        """The sequence of a seed."""
        return Script(f"{self.name} {seed}", self.drawn(seed), self.book)

    @property
    def recorded(self) -> Iterator[Script]:
        return map(self.of, self.seeds)


OF_GROUPS: Final = Sequences("sequence", sequence, range(1, 51), "sequences")
OF_PRODUCERS: Final = Sequences("producers", producer_sequence, range(1, 21), "producer-sequences")
TIMED: Final = Sequences("timed producers", timed_sequence, range(1, 7), "timed-sequences")
RESTARTED_PRODUCERS: Final = Sequences("restarted producers", restarted_sequence, range(1, 11), "restarted-sequences")
OF_CONSUMERS: Final = Sequences("consumers", consumer_sequence, range(1, 21), "consumer-sequences")
RESTARTED_CONSUMERS: Final = Sequences(
    "restarted consumers", restarted_consumer_sequence, range(1, 11), "consumer-restarted-sequences"
)
OF_SHARE_STATES: Final = Sequences("share states", share_state_sequence, range(1, 13), "share-state-sequences")
RESTARTED_SHARE_STATES: Final = Sequences(
    "restarted share states", restarted_share_state_sequence, range(1, 7), "share-state-restarted-sequences"
)
SHARE_SNAPSHOTS: Final = Sequences("share snapshots", share_state_sequence, range(13, 19), "share-snapshot-sequences")
OF_SHARES: Final = Sequences("shares", share_sequence, range(1, 13), "share-sequences")
RESTARTED_SHARES: Final = Sequences("restarted shares", restarted_share_sequence, range(1, 7), "share-restarted-sequences")
OF_STREAMS: Final = Sequences("streams", streams_sequence, range(1, 9), "streams-sequences")
RESTARTED_STREAMS: Final = Sequences("restarted streams", restarted_streams_sequence, range(1, 5), "streams-restarted-sequences")
SEQUENCES: Final = (
    OF_GROUPS,
    OF_PRODUCERS,
    TIMED,
    RESTARTED_PRODUCERS,
    OF_CONSUMERS,
    RESTARTED_CONSUMERS,
    OF_SHARE_STATES,
    RESTARTED_SHARE_STATES,
    SHARE_SNAPSHOTS,
    OF_SHARES,
    RESTARTED_SHARES,
    OF_STREAMS,
    RESTARTED_STREAMS,
)
_RECORDED_SEQUENCES: Final = {f"{each.name} {seed}" for each in SEQUENCES for seed in each.seeds}


def scripts_of(name: str) -> Iterator[Script]:
    """The scripts of one file."""
    for scenario in scenarios(SCRIPTS / f"{name}.txt"):
        numbers = [int(number) for line in scenario.lines if line.startswith("differs ") for number in line.split()[1:]]
        yield Script(f"{name}: {scenario.title}", _inputs(scenario), f"scripts/{name}", frozenset(numbers))


def named(*names: str) -> pytest.MarkDecorator:
    """A test for each script of files."""
    scripts = chain.from_iterable(map(scripts_of, names))
    return pytest.mark.parametrize("script", [pytest.param(script, id=script.title) for script in scripts])


def acted_out() -> Iterator[Script]:
    """The transcripts of tests/scenarios that a client could act out."""
    for path in sorted(SCENARIOS.glob("*.txt")):
        for scenario in scenarios(path):
            lines = _inputs(scenario)
            is_plain = not any(line.startswith("config ") for line in scenario.lines)
            if is_plain and lines and not _NOT_A_CLIENT & {line.split()[0] for line in lines}:
                title = f"{path.stem}: {scenario.title}"
                yield Script(title, lines, f"scenarios/{path.stem}", _DIFFERS.get(title, frozenset()))


def recorded() -> Iterator[Script]:
    """All that have a transcript, in its order."""
    named = chain.from_iterable(scripts_of(path.stem) for path in sorted(SCRIPTS.glob("*.txt")) if path.stem not in LONG)
    return chain(named, acted_out(), *(each.recorded for each in SEQUENCES))


def restarted() -> Iterator[Script]:
    """The named scripts with a restart in them."""
    return chain.from_iterable(map(scripts_of, (*RESTARTED, *SHARES_RESTARTED)))


def _inputs(scenario: Scenario) -> list[str]:
    return [line[2:] for line in scenario.lines if line.startswith("> ")]
