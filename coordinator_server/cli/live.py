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
from typing import Final

from coordinator_server.cli.answers import Answer, Row, cell
from coordinator_server.cli.diagnosis.cluster import LOADING, SERVING, SETTLED, Seen, see_servers
from coordinator_server.cli.output import counted
from coordinator_server.cli.table import columns
from coordinator_server.client.admin.cluster import Cluster
from coordinator_server.client.admin.groups import SHARE, Description, Listed, describe_groups, list_groups
from coordinator_server.client.admin.offsets import committed_offsets
from protocol.printable import printable

ENTER: Final = "\x1b[?1049h\x1b[?25l"
LEAVE: Final = "\x1b[?25h\x1b[?1049l"
HOME: Final = "\x1b[H"
REST_OF_LINE: Final = "\x1b[K"
REST_OF_SCREEN: Final = "\x1b[J"
_QUIT: Final = frozenset(b"qQ")


@dataclass(frozen=True)
class Picture:
    """A cluster at a moment. ``committed`` has the sum of the offsets of each group that is shown."""

    at_s: float
    servers: Sequence[Seen]
    listed: Sequence[Listed]
    groups: Mapping[str, Description]
    committed: Mapping[str, int]


async def watch(cluster: Cluster, options: argparse.Namespace) -> Answer:
    """Draw pictures until a key, or until there were ``options.count``. The answer is the last one."""
    quit_asked = asyncio.Event()
    before: Picture | None = None
    with terminal(quit_asked) if options.is_live else nullcontext():
        number = 0
        while True:
            picture = await take_picture(cluster, options.group, options.groups)
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


async def take_picture(cluster: Cluster, named: Sequence[str], most: int) -> Picture:
    """Ask the servers. Raises ClientError."""
    servers = await see_servers(cluster)
    listed = await list_groups(cluster) if all(each.state == SERVING for each in servers) else []
    unsettled = [each.group_id for each in listed if each.state not in SETTLED]
    known = {each.group_id for each in listed}
    rest = [each for each in named if each in known] if named else [each.group_id for each in listed]
    chosen = list(dict.fromkeys([*unsettled, *rest]))[:most]
    groups = await describe_groups(cluster, chosen)
    offsets = await committed_offsets(cluster, [each.group_id for each in groups.values() if each.type != SHARE])
    sums = {group_id: sum(each.offset for each in positions.values()) for group_id, positions in offsets.items()}
    return Picture(time.monotonic(), servers, listed, {each: groups[each] for each in chosen if each in groups}, sums)


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
            "committed": picture.committed.get(group_id),
            "per_second": _speed(group_id, picture, before),
        }
        for group_id, group in picture.groups.items()
    ]


def _speed(group_id: str, picture: Picture, before: Picture | None) -> float | None:
    if before is None or group_id not in before.committed or group_id not in picture.committed:
        return None
    passed_s = max(picture.at_s - before.at_s, 0.001)
    return round((picture.committed[group_id] - before.committed[group_id]) / passed_s, 1)


def heading(picture: Picture) -> Iterator[str]:
    """Return the lines above the table."""
    for each in picture.servers:
        took = "" if each.milliseconds is None else f", answers in {each.milliseconds:g} ms"
        yield f"node {each.node_id} at {each.address}: {each.state}{took}" + (f": {each.error}" if each.error else "")
    if any(each.state == LOADING for each in picture.servers):
        yield "groups are shown when all servers serve"
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
