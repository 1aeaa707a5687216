"""Shorter sessions: for how long the log has no sign of life of a member.

A heartbeat leaves no record. A commit does, and a commit of a classic member begins its session anew, as its generation does. So a
session that is longer than the time between two signs has not ended there. One that is not may have, once; if it is no longer than
half of that time, more often, and nothing is known.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, attributed
from coordinator_server.offsets.attribution import spoken_for
from coordinator_server.pipeline.index.split import group_of
from coordinator_server.whatif.figures import Certainty
from coordinator_server.whatif.life import Generation, Protocol, Seat, Silence
from coordinator_server.whatif.turns import Turn
from protocol.record_batch import BatchHeader, iter_records

_OFFSET_COMMIT: Final = 8
"""The API's key. A transaction commits by another one, which is no sign of life."""


class Heard:
    """The commits of the members of one group, as runs: in a run, each is less than ``session_ms`` after the one before."""

    def __init__(self, session_ms: int) -> None:
        self._session_ms = session_ms
        self._begins: dict[Seat, list[int]] = {}
        self._ends: dict[Seat, list[int]] = {}

    def add(self, seat: Seat, at_ms: int) -> None:
        """Take the next commit of a member."""
        begins, ends = self._begins.setdefault(seat, []), self._ends.setdefault(seat, [])
        if ends and at_ms - ends[-1] < self._session_ms:
            ends[-1] = max(ends[-1], at_ms)
        else:
            begins.append(at_ms)
            ends.append(at_ms)

    def silences(self, generations: Sequence[Generation]) -> list[Silence]:
        """Return when members of longer sessions were not heard of for as long as this one, generation by generation."""
        found: list[Silence] = []
        for number, generation in enumerate(generations):
            after = generations[number + 1] if number + 1 < len(generations) else None
            for seat, member in generation.members.items():
                if member.session_ms > self._session_ms:
                    found += self._of_member(generation, seat, _last_sign_ms(generation, seat, after))
        return found

    def _of_member(self, generation: Generation, seat: Seat, last_ms: int | None) -> Iterator[Silence]:
        begins, ends = self._begins.get(seat, []), self._ends.get(seat, [])
        heard_ms = generation.at_ms
        for place in range(bisect_left(ends, heard_ms), len(ends)):
            if last_ms is not None and begins[place] >= last_ms:
                break
            if begins[place] - heard_ms >= self._session_ms:
                yield Silence(generation.offset, seat, heard_ms, begins[place])
            heard_ms = ends[place]
        if last_ms is not None and last_ms - heard_ms >= self._session_ms:
            yield Silence(generation.offset, seat, heard_ms, last_ms)


def _last_sign_ms(generation: Generation, seat: Seat, after: Generation | None) -> int | None:
    """Return when a member was last heard of in a generation: when it joined the next one, or left. None for its commits alone."""
    member_id = generation.members[seat].member_id
    if after is None or Reason(Why.SESSION_TIMEOUT, member_id) in after.reasons:
        return None
    return after.at_ms if seat in after.members else after.began_ms


def commits(data: bytes, position: int, header: BatchHeader, group_id: str, upto: int) -> Iterator[tuple[Seat, int]]:
    """Yield who has committed for a group in a verified batch, and when. Raises DecodeError."""
    if header.is_control:
        return
    for record, provenance in attributed(iter_records(data, position, header)):
        if not record.headers or provenance is None or record.offset >= upto:
            continue
        if provenance.api_key == _OFFSET_COMMIT and group_of(record.key) == group_id:
            speaker = spoken_for(provenance)
            yield speaker.member_id if speaker.group_instance_id is None else speaker.group_instance_id, record.timestamp


def certainty_of(turns: Sequence[Turn], silences: Sequence[Silence] | None, session_ms: int) -> Certainty:
    """Return how certain it is which sessions of this length would have ended. None: nobody has looked for silences.

    In the consumer protocol a commit begins no session anew.
    """
    if silences is None or any(turn.generation.protocol is Protocol.CONSUMER for turn in turns):
        return Certainty.UNKNOWN
    if any(each.until_ms - each.from_ms >= 2 * session_ms for each in silences):
        return Certainty.UNKNOWN
    return Certainty.BOUND if silences else Certainty.KNOWN


def with_silences(turns: Sequence[Turn], silences: Sequence[Silence], session_ms: int) -> list[Turn]:
    """Return the turns, and those in which a member is gone when its session ends, and back when it was heard of again."""
    by_offset: dict[int, list[Silence]] = {}
    for each in silences:
        by_offset.setdefault(each.offset, []).append(each)
    found = []
    for turn in turns:
        found.append(turn)
        own = [each for generation in (turn.generation, *turn.follow_ups) for each in by_offset.get(generation.offset, ())]
        found += _gone_and_back(turn, own, session_ms)
    return found


def _gone_and_back(turn: Turn, silences: Sequence[Silence], session_ms: int) -> Iterator[Turn]:
    last = (turn.follow_ups or [turn.generation])[-1]
    gone = [(each.from_ms + session_ms, False, each.seat) for each in silences]
    back = [(each.until_ms, True, each.seat) for each in silences]
    away: set[Seat] = set()
    for at_ms, is_back, seat in sorted([*gone, *back]):
        away ^= {seat}
        members = {each: member for each, member in last.members.items() if each not in away}
        reasons = () if is_back else (Reason(Why.SESSION_TIMEOUT, last.members[seat].member_id),)
        order = tuple(each for each in last.order if each in members)
        # It is in no record, and so has no offset.
        yield Turn(replace(last, offset=-1, at_ms=at_ms, members=members, order=order, assigned={}, reasons=reasons))
