"""Transcripts of a GroupShard, or of a TransactionShard: the input, and under each line what it wrote and answered.

A file holds scenarios, each on a fresh shard. Lines of a scenario:

    == the rule it shows
    config group.max.size=2              properties that differ from the defaults (the initial rebalance delay is 0 here)
    > A join g protocols=range:x,rr:y    client A sends a request; its member id, generation and so on are remembered and sent along
    < log @0 GroupMetadata g …           a record and its offset
    > why                                from here on each record is followed by its provenance: who, as which member, and why
    < why @1 A as A-1: member-left A-1
    < A join MEMBER_ID_REQUIRED …        an answer; the client's earlier requests may be answered here, too
    > wait 3000                          time passes; what happens meanwhile has its time: ``< +3000 A join …``
    # why the next line is worth looking at

Requests: join, enter (join, and once more with the id that was asked for), sync, heartbeat, leave, commit, fetch, delete
(groups), forget (offsets) of a client; describe, list and expiring of nobody. Metadata in brackets, range:[t+u], is a real
subscription. Words of the form name=value set what would be sent; ``v=`` sets the version, the newest by default. A value of - is
null. Names of clients stand for their member ids. What happens to the log: hold (nothing is durable until flush, release or
fail), restart (perhaps with properties), unload. The wall clock: jump. A scenario whose first input is a producer's is one of a
TransactionShard (producers.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from coordinator_server.config.load import load
from tests.scenarios.producers import REQUESTS, ProducerScript
from tests.scenarios.script import Script


class Scenario(NamedTuple):
    """One part of a file."""

    title: str
    lines: list[str]


def scenarios(path: Path) -> Iterator[Scenario]:
    """The scenarios of a file; what stands before the first one is about all of them."""
    title = ""
    lines: list[str] = []
    for line in path.read_text().splitlines():
        if line.startswith("== "):
            if title:
                yield Scenario(title, lines)
            title, lines = line[3:], []
        elif title:
            lines.append(line)
    yield Scenario(title, lines)


def played(scenario: Scenario) -> list[str]:
    """The scenario's lines as they turn out: inputs and comments as they stand, outputs anew."""
    properties = {"group.initial.rebalance.delay.ms": "0"}
    script: Script | ProducerScript | None = None
    lines: list[str] = []
    for line in scenario.lines:
        if line.startswith("< "):
            continue
        lines.append(line)
        if line.startswith("config "):
            properties |= dict(word.split("=", 1) for word in line.split()[1:])
        elif line.startswith("> "):
            script = script or (ProducerScript() if line.split()[1] in REQUESTS else Script(load(properties)))
            lines += [f"< {output}" for output in script.play(line[2:])]
    return lines


def rewrite(path: Path) -> None:
    """Write the file as it turns out."""
    head = path.read_text().partition("== ")[0]
    parts = ["\n".join([f"== {scenario.title}", *played(scenario)]).rstrip() for scenario in scenarios(path)]
    path.write_text(head + "\n\n".join(parts) + "\n")
