"""What the directory says at a moment, beside what Kafka's own tool says of the cluster before and after it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from coordinator_server.client.errors import ClientError
from coordinator_server.pipeline.replay import beside_cluster
from tests.observed.cluster import Cluster, Tool
from tests.observed.follower import Follower, wait_until_read

TOOL: Final = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
WITHIN_S: Final = 180
"""How long is waited for what needs the cluster: brokers may be gone meanwhile."""
SETTLED: Final = {each.lower() for each in beside_cluster.SETTLED}


class Position(NamedTuple):
    """Where a group is in a partition, and its end."""

    offset: int
    end_offset: int


class State(NamedTuple):
    """A group's state, in lower case, and its number of members."""

    state: str
    members: int


Where = tuple[str, str, int]


class NotAnswered(Exception):
    """The cluster does not answer the tool now, because of what is done to it."""


class Moments:
    """Compares, and counts. ``faults`` is what differs."""

    def __init__(self, cluster: Cluster, follower: Follower, tool: Tool) -> None:
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.not_answered = ""
        """The last reason for which nothing could be compared."""
        self._cluster, self._follower, self._tool = cluster, follower, tool

    def compare(self) -> None:
        """Compare once. A cluster that does not answer is counted. ``observe`` goes on running meanwhile."""
        since = datetime.now(UTC) - timedelta(seconds=1)
        with self._follower.lock:
            try:
                before, states = self._positions(), self._states()
                ends = self._cluster.high_watermarks()
                if not wait_until_read(self._follower, ends, WITHIN_S):
                    self.faults.append(f"not read within {WITHIN_S} s: {ends}, {self._follower.last_lines()}")
                    return
                described = sorted(group for group in states if not _may_end(group))
                ours, our_states = self._ours(sorted({group for group, _, _ in before}), described)
                after, states_after = self._positions(), self._states()
                # The log has no state of a rebalance that goes on.
                settled = [each for each in described if states[each] == states_after.get(each) and states[each].state in SETTLED]
                moved = {each for each in settled if states[each] != our_states.get(each) and self._has_moved(each, since)}
            except (NotAnswered, ClientError) as why:
                self.not_answered = str(why)
                self.counts["not answered"] += 1
                return
        self.counts["moments"] += 1
        for where in before.keys() & after.keys():
            if where in ours or not _may_end(where[0]):
                self._compare_position(where, before[where], ours.get(where), after[where])
        self.counts["states that moved"] += len(moved)
        for group in settled:
            if group not in moved:
                self._note("states", group, states[group], our_states.get(group))

    def _has_moved(self, group: str, since: datetime) -> bool:
        """Return whether members came or went since a moment: the states before and after may be the same, and another between."""
        events, _ = self._follower.answer("groups", "why", group, "--since", since.isoformat(), "--limit", "0")
        return any("offsets" not in each["what"] for each in events)

    def _compare_position(self, where: Where, before: Position, ours: Position | None, after: Position) -> None:
        if before == after:
            self._note("positions at rest", where, before, ours)
        elif before.offset <= after.offset and before.end_offset <= after.end_offset:
            is_between = (
                ours is not None
                and before.offset <= ours.offset <= after.offset
                and before.end_offset <= ours.end_offset <= after.end_offset
            )
            self._note("positions that move", where, (before, after), (before, after) if is_between else ours)

    def _note(self, kind: str, what: object, theirs: object, ours: object) -> None:
        self.counts[kind] += 1
        if theirs != ours:
            self.faults.append(f"{kind}: {what}: the cluster says {theirs}, the directory {ours}")

    def _ours(self, groups: list[str], described: list[str]) -> tuple[dict[Where, Position], dict[str, State]]:
        """Return what the directory says, with ends that were sampled from now on."""
        since_ms, deadline = time.time() * 1000, time.monotonic() + WITHIN_S
        while True:
            rows, said = self._follower.answer("groups", "lag", *groups, codes=(0, 1)) if groups else ([], "")
            if not groups or _as_of_ms(said) >= since_ms:
                break
            if time.monotonic() > deadline:
                raise NotAnswered(f"no sample was taken: {self._follower.last_lines()}")
            self._follower.start()
            time.sleep(0.5)
        positions = {
            (row["group"], row["topic"], row["partition"]): Position(row["offset"], row["end_offset"])
            for row in rows
            if row["end_offset"] is not None
        }
        faulty = [
            row for row in rows if row["end_offset"] is not None and row["lag"] != max(0, row["end_offset"] - row["offset"])
        ]
        self.faults += [f"lag: {row}" for row in faulty]
        states, _ = self._follower.answer("groups", "describe", *described) if described else ([], "")
        return positions, {row["group"]: State(row["state"].lower(), row["members"]) for row in states}

    def _positions(self) -> dict[Where, Position]:
        return {
            (row["GROUP"], row["TOPIC"], int(row["PARTITION"])): Position(int(row["CURRENT-OFFSET"]), int(row["LOG-END-OFFSET"]))
            for row in self._rows()
            if row["CURRENT-OFFSET"] != "-" and row["LOG-END-OFFSET"] != "-"
        }

    def _states(self) -> dict[str, State]:
        return {row["GROUP"]: State(row["STATE"].lower(), int(row["#MEMBERS"])) for row in self._rows("--state")}

    def _rows(self, *words: str) -> Iterator[Mapping[str, str]]:
        code, said = self._tool.run(TOOL, "--describe", "--all-groups", "--timeout", "60000", *words)
        if code != 0 or "Error:" in said:
            raise NotAnswered(said)
        return rows(said)


def _may_end(group: str) -> bool:
    """Return whether a group has no members: such groups are deleted at any time, and made again."""
    return group.startswith("simple-")


def rows(printed: str) -> Iterator[Mapping[str, str]]:
    """The tables that the tool prints, one for each group, by the names in their heads.

    Between them it says which groups have no members, or rebalance.
    """
    head: list[str] = []
    for line in printed.splitlines():
        words = line.split()
        if words[:1] == ["GROUP"]:
            head = words
        elif len(words) >= len(head) > 0 and "Consumer group '" not in line:
            yield dict(zip(head, words, strict=False))


def _as_of_ms(said: str) -> float:
    [line] = [each for each in said.splitlines() if "as of " in each] or ["as of 1970-01-01T00:00:00Z"]
    return datetime.fromisoformat(line.partition("as of ")[2].strip()).timestamp() * 1000
