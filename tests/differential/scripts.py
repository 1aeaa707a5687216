"""The named scripts: files of titles and lines, in the language of tests/scenarios, without what comes of them: the other server says that.

== the rule it is about
differs 2                            the listed differences that it shows, all of them and no others
> A join g protocols=range:x v=5     a client's request
> describe g h                       a request of nobody: describe, list, find (coordinators), topics, create, grow, remove (topics), configs, alter, resources
> until A                            time passes until none of A's requests is parked
> until g Empty                      … until the group is in that state
> pause 1500                         … for 1500 ms: only to show that nothing happens
> restart                            both servers are stopped and started again, with other limits (restart.txt)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.differential.lockstep import LEADER_CHOSEN, Lockstep, Outcome
from tests.differential.side import Server
from tests.scenarios.transcript import scenarios

SCRIPTS: Final = Path(__file__).parent / "scripts"
RESTART: Final = "restart"
# Who leads after a leader is gone is a draw among members in Kafka; with as many tries it draws once as we choose.
TRIES: Final = 20


class Servers(NamedTuple):
    """What a script is played on."""

    ours: Server
    kafka: Server


class Script(NamedTuple):
    """A named script; ``differs`` are the numbers of the listed differences that it shows."""

    title: str
    lines: list[str]
    differs: frozenset[int] = frozenset()

    @property
    def prefix(self) -> str:
        """In front of its group ids."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.lower()) + "-"


def scripts_of(name: str) -> Iterator[Script]:
    """The scripts of one file."""
    for scenario in scenarios(SCRIPTS / f"{name}.txt"):
        lines = [line[2:] for line in scenario.lines if line.startswith("> ")]
        numbers = [int(number) for line in scenario.lines if line.startswith("differs ") for number in line.split()[1:]]
        yield Script(f"{name}: {scenario.title}", lines, frozenset(numbers))


def play(script: Script, servers: Servers, *, is_timed: bool = False) -> None:
    """The servers agree, but for what the script says; so do their logs, which cannot be read at one moment where time goes on to change them."""
    for attempt in range(TRIES):
        lockstep = Lockstep(*servers, f"{script.prefix}{attempt}-")
        try:
            outcome = lockstep.play(script.lines)
            if not outcome.ended and not is_timed:
                lockstep.compare_logs()
        finally:
            lockstep.close()
        if outcome.ended != LEADER_CHOSEN:
            break
    judge(script, outcome)


def judge(script: Script, outcome: Outcome) -> None:
    """What was seen is what the script says is to be seen."""
    assert outcome.ended != LEADER_CHOSEN, "Kafka never chose the leader that is chosen here"
    missing = script.differs - outcome.seen.keys()
    assert not missing, f"listed differences {sorted(missing)} are not seen any more: take them off docs/differences.md"
    assert outcome.seen.keys() == script.differs, f"differences {sorted(outcome.seen)} are seen, which the script does not name"
