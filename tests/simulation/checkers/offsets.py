"""Commits are linearizable, each position of each group by itself, and nothing is ever read that nobody committed.

Every commit is of a value of its own. A commit that was refused never was; one that was not answered may have happened at any
time after it was sent, or never. Deleting a position writes that there is none. Requests of one connection happen in their order,
whether or not the client waited for the answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from protocol.messages.delete_groups import DeleteGroupsRequest
from protocol.messages.group_records import OffsetCommitKey, OffsetCommitValue
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.offset_delete import OffsetDeleteRequest
from protocol.messages.offset_fetch import OffsetFetchRequest
from tests.simulation.checkers.reading import Reading
from tests.simulation.history import Op

NONE: Final = -1
NEVER: Final = 2**62
Position = tuple[str, str, int]


class Step(NamedTuple):
    """Something that happened to a position, at one moment between two times. One that ends NEVER need not have happened."""

    sent_us: int
    ended_us: int
    is_read: bool
    value: int
    op: Op


def check_linearizable(reading: Reading) -> Iterator[str]:
    """Each position has an order of what happened to it that explains every answer."""
    for position, steps in _steps(reading).items():
        committed = {step.value for step in steps if not step.is_read}
        for step in steps:
            if step.is_read and step.value != NONE and step.value not in committed:
                yield f"#{step.op.number} read {step.value} of {position}, which nobody committed"
                break
        else:
            if not is_linearizable(steps):
                numbers = " ".join(f"#{step.op.number}" for step in sorted(steps, key=lambda step: step.sent_us))
                yield f"no order explains what happened to {position}: {numbers}"


def check_committed(reading: Reading) -> Iterator[str]:
    """The log holds no offset that nobody committed, and none whose committer was refused."""
    asked: dict[tuple[Position, int], bool] = {}
    for op in reading.history.of(OffsetCommitRequest):
        for position, value, is_possible in _commits(op):
            asked[position, value] = asked.get((position, value), False) or is_possible
    for each in reading.written:
        key, committed = each.record.key, each.record.value
        if isinstance(key, OffsetCommitKey) and isinstance(committed, OffsetCommitValue):
            found = (key.group, key.topic, key.partition), committed.offset
            if not asked.get(found):
                why = "was refused" if found in asked else "nobody committed"
                yield f"{each.shard} at {each.offset} holds {found}, which {why}"


def is_linearizable(steps: Iterable[Step]) -> bool:
    """Wing and Gong's search, with the states that have been tried kept in mind. The position begins with nothing in it."""
    read = {step.value for step in steps if step.is_read}
    # What may never have happened, and what nobody has seen, explains nothing.
    left = sorted(
        (step for step in steps if step.is_read or step.ended_us != NEVER or step.value == NONE or step.value in read),
        key=lambda step: step.sent_us,
    )
    return _search(left)


def _search(steps: list[Step]) -> bool:
    must = sum(1 << place for place, step in enumerate(steps) if step.ended_us != NEVER)
    before = [_before(step, steps) for step in steps]
    tried: set[tuple[int, int]] = set()
    stack = [(0, NONE)]
    while stack:
        done, value = stack.pop()
        if done & must == must:
            return True
        if (done, value) in tried:
            continue
        tried.add((done, value))
        first_end = min(step.ended_us for place, step in enumerate(steps) if not done >> place & 1)
        for place, step in enumerate(steps):
            if step.sent_us > first_end:
                break
            if done >> place & 1 or before[place] & ~done:
                continue
            if not step.is_read:
                stack.append((done | 1 << place, step.value))
            elif step.value == value:
                # A read that fits changes nothing: nothing is lost by taking it first.
                stack.append((done | 1 << place, value))
                break
    return False


def _before(step: Step, steps: list[Step]) -> int:
    """The places of what the same connection asked for before, and got."""
    return sum(
        1 << place
        for place, each in enumerate(steps)
        if each.op.connection == step.op.connection and each.op.number < step.op.number and each.ended_us != NEVER
    )


def _steps(reading: Reading) -> dict[Position, list[Step]]:
    steps: dict[Position, list[Step]] = defaultdict(list)
    groups: dict[str, set[Position]] = defaultdict(set)
    for op in reading.history.of(OffsetCommitRequest):
        for position, value, is_possible in _commits(op):
            groups[position[0]].add(position)
            if is_possible:
                steps[position].append(Step(op.sent_us, op.ended_us, False, value, op))
    for op in reading.history.answered(OffsetFetchRequest):
        # What is gone with its age is the matter of another checker.
        for position, value in _reads(op, groups) if op.sent_us < reading.history.old_us else ():
            steps[position].append(Step(op.sent_us, op.ended_us, True, value, op))
    for op in reading.history.of(OffsetDeleteRequest):
        for position in _deleted(op):
            steps[position].append(Step(op.sent_us, op.ended_us, False, NONE, op))
    for op in reading.history.of(DeleteGroupsRequest):
        refused = {each.group_id for each in op.response.results if each.error_code} if op.is_answered else set()
        for group_id in op.request.groups_names:
            for position in groups[group_id] if group_id not in refused else ():
                steps[position].append(Step(op.sent_us, op.ended_us, False, NONE, op))
    return steps


def _commits(op: Op) -> Iterator[tuple[Position, int, bool]]:
    """What a request wants committed, and whether that may have happened."""
    errors = {
        (topic.name, partition.partition_index): partition.error_code
        for topic in (op.response.topics if op.is_answered else ())
        for partition in topic.partitions
    }
    for topic in op.request.topics:
        for partition in topic.partitions:
            is_possible = errors.get((topic.name, partition.partition_index), 0) == 0
            yield (op.request.group_id, topic.name, partition.partition_index), partition.committed_offset, is_possible


def _reads(op: Op, groups: dict[str, set[Position]]) -> Iterator[tuple[Position, int]]:
    """What an answer says of each position it was asked for; of all that there are when none was named."""
    if op.response.groups:
        answers = [(each.group_id, each, group.topics) for each, group in zip(op.response.groups, op.request.groups, strict=True)]
    else:
        answers = [(op.request.group_id, op.response, op.request.topics)]
    for group_id, answer, asked in answers:
        if answer.error_code:
            continue
        found: dict[Position, int] = {}
        for topic in answer.topics:
            for partition in topic.partitions:
                if partition.error_code == 0:
                    found[group_id, topic.name, partition.partition_index] = partition.committed_offset
        if asked is None:
            found = dict.fromkeys(groups[group_id], NONE) | found
        yield from found.items()


def _deleted(op: Op) -> Iterator[Position]:
    """What a request may have deleted."""
    if op.is_answered and op.response.error_code:
        return
    refused = {
        (topic.name, partition.partition_index)
        for topic in (op.response.topics if op.is_answered else ())
        for partition in topic.partitions
        if partition.error_code
    }
    for topic in op.request.topics:
        for partition in topic.partitions:
            if (topic.name, partition.partition_index) not in refused:
                yield op.request.group_id, topic.name, partition.partition_index
