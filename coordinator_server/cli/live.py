"""The pictures of ``top``, and the terminal that shows them."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import sys
import termios
import time
import tty
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from coordinator_server.cli.answers import Answer, Row, cell
from coordinator_server.cli.commit_counts import CommitCounts
from coordinator_server.cli.diagnosis.cluster import LOADING, SERVING, SETTLED, Seen, see_servers
from coordinator_server.cli.diagnosis.nodes import summary
from coordinator_server.cli.observed_directory import is_observed
from coordinator_server.cli.output import counted
from coordinator_server.cli.table import columns
from coordinator_server.cli.times import shown
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.groups import (
    SHARE,
    Description,
    Listed,
    describe_groups,
    list_groups,
    may_describe_all_groups,
)
from coordinator_server.client.errors import Refused
from protocol.printable import printable

if TYPE_CHECKING:
    from coordinator_server.pipeline.lag.lags import GroupLag

ENTER: Final = "\x1b[?1049h\x1b[?25l"
LEAVE: Final = "\x1b[?25h\x1b[?1049l"
HOME: Final = "\x1b[H"
REST_OF_LINE: Final = "\x1b[K"
REST_OF_SCREEN: Final = "\x1b[J"
_QUIT: Final = frozenset(b"qQ")


@dataclass(frozen=True)
class Picture:
    """A cluster at a moment.

    ``commits`` has the commits of groups since the picture before; ``refused`` is None if no server was asked, ``lags`` is None
    without a directory that follows the cluster.
    """

    at_s: float
    servers: Sequence[Seen]
    listed: Sequence[Listed]
    groups: Mapping[str, Description]
    commits: Mapping[str, float]
    notes: Sequence[str] = ()
    """What could not be found out, and why."""
    refused: Mapping[str, Mapping[str, int]] | None = None
    """The commits that each group has refused since the server's start, by error."""
    nodes: str = ""
    """A line about the nodes of a store, if the server that was asked is one of them."""
    lags: Mapping[str, GroupLag] | None = None


async def watch(cluster: Cluster, options: argparse.Namespace) -> Answer:
    """Draw pictures until a key, or until there were ``options.count``. The answer is the last one."""
    quit_asked = asyncio.Event()
    view = View(cluster, options.group, options.groups, options.data_dir)
    # Elsewhere than on a terminal a first picture without speeds would be of no use.
    before = None if options.is_live else await view.take_picture()
    if before is not None:
        await asyncio.sleep(options.interval)
    with terminal(quit_asked) if options.is_live else nullcontext():
        number = 0
        while True:
            picture = await view.take_picture()
            rows = rows_of(picture, before)
            number += 1
            if options.is_live:
                sys.stdout.write(drawn([*heading(picture), "", *table(rows)], shutil.get_terminal_size()))
                sys.stdout.flush()
            if number == options.count:
                break
            before = picture
            try:
                await asyncio.wait_for(quit_asked.wait(), options.interval)
            except TimeoutError:
                continue
            break
    return Answer(rows, text=() if options.is_live else [*heading(picture), "", *table(rows)])


class View:
    """What is shown: the named groups, or all, and those that are not settled; so many at most."""

    def __init__(self, cluster: Cluster, named: Sequence[str], most: int, data_dir: Path | None) -> None:
        self._cluster = cluster
        self._named = named
        self._most = most
        self._data_dir = data_dir
        self._counts = CommitCounts(cluster)

    async def take_picture(self) -> Picture:
        """Ask the servers. Raises ClientError."""
        servers = await see_servers(self._cluster)
        listed = await list_groups(self._cluster) if all(each.state == SERVING for each in servers) else []
        unsettled = [each.group_id for each in listed if each.state not in SETTLED]
        known = {each.group_id for each in listed}
        rest = [each for each in self._named if each in known] if self._named else [each.group_id for each in listed]
        chosen = list(dict.fromkeys([*unsettled, *rest]))[: self._most]
        groups = await describe_groups(self._cluster, chosen)
        described = {each: groups[each] for each in chosen if each in groups}
        notes: list[str] = []
        if not listed and not await may_describe_all_groups(self._cluster):
            notes.append("groups are not shown: the user has no DESCRIBE of them")
        try:
            commits = await self._counts.since_last([each.group_id for each in described.values() if each.type != SHARE])
        except Refused as refused:
            commits = {}
            notes.append(f"commits are not counted: {refused}")
        if self._data_dir is not None and is_observed(self._data_dir):
            return Picture(time.monotonic(), servers, listed, described, commits, notes, lags=_lags(self._data_dir, notes))
        refused_commits = self._refused(notes)
        return Picture(time.monotonic(), servers, listed, described, commits, notes, refused_commits, self._nodes())

    def _refused(self, notes: list[str]) -> Mapping[str, Mapping[str, int]] | None:
        answer = self._asked("refused-commits", "refused commits", notes)
        return None if answer is None else {each["group_id"]: each["errors"] for each in answer["refused_commits"]}

    def _nodes(self) -> str:
        # The question before has noted why there is no answer.
        answer = self._asked("cluster", "nodes", [])
        return "" if answer is None else "; ".join(map(summary, answer["cluster"]))

    def _asked(self, operation: str, what: str, notes: list[str]) -> Mapping[str, Any] | None:
        """Ask the server that runs on the directory, if one is given. None if it does not answer, which is noted."""
        if self._data_dir is None:
            return None
        from coordinator_server.pipeline.errors import PipelineError
        from coordinator_server.pipeline.input.data_dir import ask_server

        try:
            answer = ask_server(self._data_dir, {"op": operation})
        except (PipelineError, OSError) as error:
            notes.append(f"{what} are not shown: {error}")
            return None
        if answer is None:
            notes.append(f"{what} are not shown: no server runs on {self._data_dir}")
        return answer


def _lags(data_dir: Path, notes: list[str]) -> Mapping[str, GroupLag]:
    """Return the lags of groups, as the index of a directory that follows a cluster has them, and note as of when."""
    from coordinator_server.pipeline.index.database import NoIndex
    from coordinator_server.pipeline.index.feed import index_of
    from coordinator_server.pipeline.index.tables.end_offsets import last_sample_ms
    from coordinator_server.pipeline.index.tables.lags import indexed_group_lags

    try:
        with index_of(data_dir) as index:
            as_of_ms = last_sample_ms(index.database)
            notes.append("no end offset was sampled yet" if as_of_ms < 0 else f"lags are as of {shown(as_of_ms)}")
            return {each.group: each for each in indexed_group_lags(index.database)}
    except NoIndex:
        notes.append("lags are not shown: observe keeps their index with --page or --metrics, or make it with index")
        return {}


def rows_of(picture: Picture, before: Picture | None) -> list[Row]:
    """Return a row for each group that is shown. Without an earlier picture nothing is known of its speed."""
    return [
        {
            "group": group_id,
            "type": group.type,
            "state": group.state,
            "members": len(group.members),
            "partitions": sum(each.partition_count for each in group.members),
            "epoch": group.epoch,
            "commits_per_s": _speed(group_id, picture, before),
        }
        | ({} if picture.refused is None else {"refused": dict(picture.refused.get(group_id, {}))})
        | ({} if picture.lags is None else _lag_of(picture.lags.get(group_id)))
        for group_id, group in picture.groups.items()
    ]


def _lag_of(found: GroupLag | None) -> dict[str, object]:
    return {"lag": found and found.lag, "lag_s": found and found.lag_s, "verdict": found and str(found.verdict)}


def _speed(group_id: str, picture: Picture, before: Picture | None) -> float | None:
    if before is None or group_id not in picture.commits:
        return None
    return round(picture.commits[group_id] / max(picture.at_s - before.at_s, 0.001), 1)


def heading(picture: Picture) -> Iterator[str]:
    """Return the lines above the table."""
    for each in picture.servers:
        took = "" if each.milliseconds is None else f", answers in {each.milliseconds:g} ms"
        yield f"node {each.node_id} at {each.address}: {each.state}{took}" + (f": {each.error}" if each.error else "")
    if picture.nodes:
        yield picture.nodes
    if any(each.state == LOADING for each in picture.servers):
        yield "groups are shown when all servers serve"
    yield from picture.notes
    types = Counter(each.type or "unknown" for each in picture.listed)
    states = Counter(each.state or "unknown" for each in picture.listed)
    yield f"{counted(len(picture.listed), 'group')}: {_counts(types)}" if types else counted(0, "group")
    if states:
        yield f"states: {_counts(states)}"


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.most_common())


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Return the lines of the table."""
    if rows:
        heads = tuple(name.replace("_", " ") for name in rows[0])
        yield from columns([heads, *(tuple(map(cell, row.values())) for row in rows)])


def drawn(lines: Sequence[str], size: tuple[int, int]) -> str:
    """Return what a terminal of so many columns and lines shows: the lines, cut to fit, and nothing of the picture before."""
    width, height = size
    shown = [f"{printable(line)[:width]}{REST_OF_LINE}" for line in lines[:height]]
    return HOME + "\r\n".join(shown) + REST_OF_SCREEN


@contextmanager
def terminal(quit_asked: asyncio.Event) -> Iterator[None]:
    """Show a screen of its own, and set the event when q is pressed. The terminal is as before afterwards."""
    loop, keyboard = asyncio.get_running_loop(), sys.stdin.fileno()
    settings = termios.tcgetattr(keyboard)

    def pressed() -> None:
        if _QUIT & set(os.read(keyboard, 64) or b"q"):
            quit_asked.set()

    tty.setcbreak(keyboard)
    loop.add_reader(keyboard, pressed)
    sys.stdout.write(ENTER)
    try:
        yield
    finally:
        loop.remove_reader(keyboard)
        sys.stdout.write(LEAVE)
        sys.stdout.flush()
        termios.tcsetattr(keyboard, termios.TCSADRAIN, settings)
