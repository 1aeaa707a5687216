"""Every member gets exactly the bytes that its leader gave it, the same ones each time,
and all of a generation from one and the same request.
"""

from __future__ import annotations

from collections.abc import Iterator

from protocol.messages.sync_group import SyncGroupRequest
from tests.simulation.checkers.reading import Reading, by
from tests.simulation.history import Op


def check_assignments(reading: Reading) -> Iterator[str]:
    """The answers of a generation against the requests of its leaders."""
    leaders: dict[tuple[str, int], set[str]] = {}
    rosters: dict[tuple[str, int], set[str]] = {}
    for op in reading.joins:
        leaders.setdefault((op.request.group_id, op.response.generation_id), set()).add(reading.who(op.response.leader))
        named = {member.member_id for member in op.response.members}
        rosters.setdefault((op.request.group_id, op.response.generation_id), set()).update(named)
    requests = by(reading.history.of(SyncGroupRequest), lambda op: (op.request.group_id, op.request.generation_id))
    for key, answers in by(reading.syncs, lambda op: (op.request.group_id, op.request.generation_id)).items():
        given = [
            # Whoever is no member, such as a static one under an older id, gets nothing.
            {
                reading.who(each.member_id): each.assignment
                for each in op.request.assignments
                if not rosters.get(key) or each.member_id in rosters[key]
            }
            for op in requests[key]
            if reading.who(op.request.member_id) in leaders.get(key, ())
        ]
        if reading.is_mortal(key[0]):
            wrong = [op for op in answers if not any(_agrees(reading, op, shares) for shares in given)]
        else:
            wrong = [] if any(all(_agrees(reading, op, shares) for op in answers) for shares in given) else answers
        if wrong:
            numbers = ", ".join(f"#{op.number}" for op in wrong)
            yield f"generation {key[1]} of {key[0]}: {numbers} got what no leader gave them in one request"


def _agrees(reading: Reading, op: Op, shares: dict[str, bytes]) -> bool:
    return bool(op.response.assignment == shares.get(reading.who(op.request.member_id), b""))
