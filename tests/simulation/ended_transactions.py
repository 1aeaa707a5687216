"""How transactions have ended in the logs that they wrote to: in all alike, and as their producers were told.

What can be read of a group is overwritten by the next transaction; the logs have the end of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from protocol.control_records import COMMIT, control_type
from protocol.coordinator_records import GROUP_SERDE
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.record_batch import Record, iter_batches, iter_records
from tests.support.mover import TOPIC, Moved, Outcome

Ends = dict[int, dict[str, set[bool]]]
"""By the offset that a transaction moves groups to, and by group: the markers that came after it, of which one commits or not."""


def wrong_ends(moved: Iterable[Moved], logs: Iterable[Iterable[bytes]]) -> Iterator[str]:
    """Yield the transactions that have not ended as they should, once all are over. ``logs`` are the batches of each shard."""
    ends: Ends = {}
    for log in logs:
        _read(log, ends)
    for each in moved:
        found = ends.get(each.offset, {})
        outcomes = set[bool]().union(*found.values())
        match each.outcome:
            case Outcome.COMMITTED:
                is_right = outcomes == {True} and found.keys() == set(each.groups)
            case Outcome.UNKNOWN:
                is_right = len(outcomes) < 2
            case _:
                is_right = True not in outcomes
        if not is_right:
            yield f"ended in its logs as {found}: {each}"


def _read(log: Iterable[bytes], ends: Ends) -> None:
    opened: dict[int, list[tuple[str, int]]] = {}
    for data in log:
        for position, header in iter_batches(data):
            if header.is_control:
                [marker] = iter_records(data, position, header)
                for group_id, offset in opened.pop(header.producer_id, ()):
                    ends.setdefault(offset, {}).setdefault(group_id, set()).add(control_type(marker.key) == COMMIT)
            elif header.is_transactional:
                records = iter_records(data, position, header)
                opened.setdefault(header.producer_id, []).extend(_offsets(records))


def _offsets(records: Iterable[Record]) -> Iterator[tuple[str, int]]:
    for record in records:
        decoded = GROUP_SERDE.decode(record.key, record.value)
        if decoded is not None and isinstance(decoded.key, OffsetCommitKey) and decoded.key.topic == TOPIC:
            assert isinstance(decoded.value, OffsetCommitValue)
            yield decoded.key.group, decoded.value.offset
