"""A request of a generation that is over, or of a static member that was replaced, is refused,
and a refused request changes nothing.

What is over is known from SyncGroup answers: such a generation, and such a member id, are in the log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from protocol.messages.heartbeat import HeartbeatRequest
from protocol.messages.leave_group import LeaveGroupRequest
from protocol.messages.offset_commit import OffsetCommitRequest
from protocol.messages.sync_group import SyncGroupRequest
from tests.simulation.checkers.reading import Reading, Span, by, error_codes
from tests.simulation.history import Op

_OF_A_GENERATION = (HeartbeatRequest, OffsetCommitRequest, SyncGroupRequest)


def check_stale(reading: Reading) -> Iterator[str]:
    """Stale requests are refused."""
    synced = by(reading.syncs, lambda op: op.request.group_id)
    for op in reading.history.ops:
        if isinstance(op.request, _OF_A_GENERATION) and op.is_answered and generation_of(op.request) >= 0:
            why = _over(reading, op, synced.get(op.request.group_id, []))
            if why and not all(error_codes(op.response)) and not _is_excused(reading, op):
                yield f"#{op.number} was taken, though {why}"


def check_nothing_written(reading: Reading) -> Iterator[str]:
    """What was refused for who asked is not in the log. Only requests whose client id is theirs alone can be looked for."""
    names = by(reading.history.ops, lambda op: op.client_id)
    refused = {
        ops[0].client_id: ops[0]
        for ops in names.values()
        if len(ops) == 1
        and isinstance(ops[0].request, HeartbeatRequest | OffsetCommitRequest | LeaveGroupRequest)
        and ops[0].is_answered
        and all(error_codes(ops[0].response))
    }
    for each in reading.written:
        if each.provenance is not None and each.provenance.client_id in refused:
            op = refused[each.provenance.client_id]
            yield f"#{op.number} was refused, and wrote {each.record} at {each.offset} of {each.shard}"


def generation_of(request: Any) -> int:
    """The generation that a request speaks for; -1 where it speaks for none."""
    generation: int = request.generation_id_or_member_epoch if isinstance(request, OffsetCommitRequest) else request.generation_id
    return generation


def _over(reading: Reading, op: Op, syncs: list[Op]) -> str:
    request = op.request
    for known in syncs:
        if known.answered_us >= op.sent_us or reading.is_parted(request.group_id, known.sent_us, op.answered_us):
            continue
        if known.request.generation_id > generation_of(request):
            return f"#{known.number} had been told of generation {known.request.generation_id}"
        if _is_replaced(reading, request, known):
            return f"#{known.number} had replaced {request.member_id} as {request.group_instance_id}"
    return ""


def _is_replaced(reading: Reading, request: Any, known: Op) -> bool:
    instance = request.group_instance_id
    if instance is None or known.request.group_instance_id != instance or known.request.member_id == request.member_id:
        return False
    given = {op.response.member_id: op for op in reversed(reading.joins) if op.request.group_id == request.group_id}
    old, new = given.get(request.member_id), given.get(known.request.member_id)
    return old is not None and new is not None and old.answered_us < new.sent_us


def _is_excused(reading: Reading, op: Op) -> bool:
    """While a group loads, heartbeats are answered as well as can be."""
    is_heartbeat = isinstance(op.request, HeartbeatRequest)
    return is_heartbeat and any(load.meets(Span(op.sent_us, op.answered_us)) for load in reading.loads)
