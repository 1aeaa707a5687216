"""The tables of Kafka's ``kafka-consumer-groups.sh``: the same columns and widths,
so that scripts which read one read the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from coordinator_server.client.admin.groups import CLASSIC, CONSUMER, Description, Listed, Member, Partitions
from coordinator_server.client.offsets import Committed, TopicPartition
from protocol.printable import printable

MISSING: Final = "-"
_NARROWEST: Final = 15
_TYPES: Final = {CLASSIC: "Classic", CONSUMER: "Consumer"}

Line = tuple[object, ...]


def listing(listed: Sequence[Listed], *, with_type: bool, with_state: bool) -> Iterator[str]:
    """Return the lines of ``--list`` with ``--type`` or ``--state``."""
    width = max([_NARROWEST, *(len(each.group_id) for each in listed)]) + 10
    widths = [width, *([20] if with_type else []), *([20] if with_state else [])]
    rows = [
        ("GROUP", "TYPE", "STATE"),
        *((each.group_id, _TYPES.get(each.type, "Unknown"), each.state or "Unknown") for each in listed),
    ]
    shown = [0, *([1] if with_type else []), *([2] if with_state else [])]
    for row in rows:
        yield _line([row[at] for at in shown], widths)


def offsets(
    group: Description, committed: Mapping[TopicPartition, Committed], ends: Mapping[TopicPartition, int], *, verbose: bool
) -> list[str]:
    """Return the lines of ``--describe --offsets``: the members with the most partitions first, then what no member has."""
    rows: list[Line] = []
    owned: set[TopicPartition] = set()
    for member in sorted(group.members, key=lambda each: -each.partition_count):
        mine = _flat(member.assignment)
        owned |= set(mine)
        whose = member.member_id, member.client_host, member.client_id
        rows += [_offset_row(group, each, committed, ends, whose, verbose=verbose) for each in mine]
    free = [each for each in committed if each not in owned]
    rows += [_offset_row(group, each, committed, ends, (MISSING,) * 3, verbose=verbose) for each in free]
    if not rows:
        return []
    heads: Line = ("GROUP", "TOPIC", "PARTITION", *(["LEADER-EPOCH"] if verbose else []))
    heads += ("CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")
    ids = len(heads) - 3
    wide = {0: 15, 1: 15, ids: 15, ids + 1: 15}
    widths = [_widest(rows, at, wide[at]) if at in wide else 10 if at == 2 else 15 for at in range(len(heads) - 1)]
    return ["", *(_line(row, widths) for row in (heads, *rows))]


def _offset_row(
    group: Description,
    at: TopicPartition,
    committed: Mapping[TopicPartition, Committed],
    ends: Mapping[TopicPartition, int],
    whose: tuple[str, str, str],
    *,
    verbose: bool,
) -> Line:
    position, end = committed.get(at), ends.get(at)
    lag = end - position.offset if position is not None and end is not None else None
    epoch = position.leader_epoch if position is not None and position.leader_epoch >= 0 else None
    numbers = [*([epoch] if verbose else []), None if position is None else position.offset, end, lag]
    return (group.group_id, at.topic, at.partition, *(MISSING if each is None else each for each in numbers), *whose)


def members(group: Description, *, verbose: bool) -> list[str]:
    """Return the lines of ``--describe --members``."""
    has_instances = any(each.instance_id for each in group.members)
    upgraded = {not each.is_classic for each in group.members if each.is_classic is not None}
    is_mixed = verbose and len(upgraded) == 2
    heads: list[object] = ["GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if has_instances else [])]
    heads += ["HOST", "CLIENT-ID", "#PARTITIONS"]
    least = [15, 15, *([17] if has_instances else []), 15, 15, 15]
    if verbose:
        heads += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT", *(["UPGRADED"] if is_mixed else [])]
        least += [15, 20, 15, 20, *([0] if is_mixed else [])]
    rows: list[Line] = []
    for each in group.members:
        row: list[object] = [group.group_id, each.member_id, *([each.instance_id or ""] if has_instances else [])]
        row += [each.client_host, each.client_id, each.partition_count]
        if verbose:
            row += _verbose(group, each)
            row += [str(not each.is_classic).lower() if each.is_classic is not None else MISSING] if is_mixed else []
        rows.append(tuple(row))
    fixed = {"#PARTITIONS", "CURRENT-EPOCH", "TARGET-EPOCH", "UPGRADED"}
    widths = [width if heads[at] in fixed else _widest(rows, at, width) for at, width in enumerate(least)]
    end = "" if verbose else " "
    return ["", *(_line(row, widths) + end for row in (tuple(heads), *rows))]


def _verbose(group: Description, member: Member) -> list[object]:
    epochs = member.epoch, group.assignment_epoch
    current, target = (MISSING if each is None else each for each in epochs)
    return [current, _assignment(member.assignment), target, _assignment(member.target)]


def _assignment(partitions: Partitions | None) -> str:
    texts = [f"{topic}:{','.join(map(str, some))}" for topic, some in (partitions or {}).items() if some]
    return ";".join(sorted(texts)) or MISSING


def state(group: Description, address: str, *, verbose: bool) -> list[str]:
    """Return the lines of ``--describe --state``. ``address`` is the coordinator's."""
    place = f"{address}  ({group.node_id})"
    epochs = [MISSING if each is None else each for each in (group.epoch, group.assignment_epoch)]
    heads: Line = ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE")
    heads += (*(["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"] if verbose else []), "#MEMBERS")
    row: Line = (group.group_id, place, group.protocol or MISSING, group.state, *(epochs if verbose else []), len(group.members))
    widths = [max(15, len(group.group_id)), max(25, len(place)), 20, 20, *([15, 25] if verbose else [])]
    return ["", *(_line(each, widths) for each in (heads, row))]


def new_offsets(rows: Sequence[tuple[str, TopicPartition, int]]) -> list[str]:
    """Return the lines of ``--reset-offsets``: group, partition and offset."""
    cells = [("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"), *((group, at.topic, at.partition, to) for group, at, to in rows)]
    widths = [_widest(cells, 0, 15), _widest(cells, 1, 15), 10]
    return ["", *(_line(each, widths) for each in cells)]


def statuses(rows: Sequence[tuple[TopicPartition, str]]) -> list[str]:
    """Return the lines of ``--delete-offsets``: what became of each partition."""
    cells = [
        ("TOPIC", "PARTITION", "STATUS"),
        *((at.topic, at.partition if at.partition >= 0 else MISSING, text) for at, text in rows),
    ]
    return ["", *(_line(each, [_widest(cells, 0, 15), 10, 15]) for each in cells)]


def _widest(rows: Sequence[Line], at: int, least: int) -> int:
    return max([least, *(len(str(row[at])) for row in rows)])


def _line(row: Sequence[object], widths: Sequence[int]) -> str:
    """Return the cells of a row, each as wide as given; the last one may have no width."""
    cells = [printable(str(each)) for each in row]
    return " ".join([*(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)), *cells[len(widths) :]])


def _flat(partitions: Partitions | None) -> list[TopicPartition]:
    return sorted(TopicPartition(topic, number) for topic, numbers in (partitions or {}).items() for number in numbers)
