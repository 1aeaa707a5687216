"""Shorter sessions: for how long there was no sign of life of a member.

A heartbeat leaves no record. But the server measures silences (``measured.py``): who was silent for as long as a session has been
put out once. Where it has not measured, there are commits. A commit of a classic member begins its session anew, as its generation
does. So a session that is longer than the time between two signs has not ended there. One that is not may have, once; if it is no
longer than half of that time, more often, and nothing is known. A commit of a member of a consumer group is no sign.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason, attributed
from coordinator_server.offsets.attribution import spoken_for
from coordinator_server.pipeline.index.split import group_of
from coordinator_server.whatif.figures import Certainty
from coordinator_server.whatif.life import Generation, Protocol, Seat, Silence
from coordinator_server.whatif.measured import MeasuredSilences
from coordinator_server.whatif.turns import Turn
from protocol.record_batch import BatchHeader, iter_records

_OFFSET_COMMIT: Final = 8
"""The API's key. A transaction commits by a different API, which is no sign of life."""
_OFTEN: Final = 2
"""More often than once: how often is unknown."""
NO_SEATS: Final[Mapping[str, Seat]] = {}


class Heard:
    """The commits of the members of one group, as runs: in a run, each is less than ``session_ms`` after the one before.

    ``measured`` are the silences that the server has measured.
    """

    def __init__(self, session_ms: int, measured: MeasuredSilences) -> None:
        self._session_ms = session_ms
        self._measured = measured
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

    def silences(self, generations: Sequence[Generation], static: Mapping[str, Seat] = NO_SEATS) -> list[Silence]:
        """Return when members of longer sessions were not heard of for as long as this one, generation by generation.

        ``static`` has the seats of static members by all member ids that they had.
        """
        found: list[Silence] = []
        measured = self._of_generations(generations, static)
        for number, generation in enumerate(generations):
            after = generations[number + 1] if number + 1 < len(generations) else None
            for seat, member in generation.members.items():
                if member.session_ms > self._session_ms:
                    found += measured.get((number, seat), ())
                    found += self._unmeasured(generation, seat, after)
        return found

    def _of_generations(
        self, generations: Sequence[Generation], static: Mapping[str, Seat]
    ) -> dict[tuple[int, Seat], list[Silence]]:
        """Return the measured silences, by the number of the generation in which each would have ended a session, and seat."""
        seats = {member.member_id: seat for generation in generations for seat, member in generation.members.items()}
        seats.update(static)
        times = [generation.at_ms for generation in generations]
        found: dict[tuple[int, Seat], list[Silence]] = {}
        for each in self._measured.silences:
            number, seat = bisect_right(times, each.since_ms + self._session_ms) - 1, seats.get(each.member_id)
            if number >= 0 and seat is not None:
                # In a consumer group it may last longer than the generation.
                until_ms = min([each.until_ms, *times[number + 1 : number + 2]])
                silence = Silence(generations[number].offset, seat, each.since_ms, until_ms)
                found.setdefault((number, seat), []).append(silence)
        return found

    def _unmeasured(self, generation: Generation, seat: Seat, after: Generation | None) -> Iterator[Silence]:
        """Yield the silences that there may have been in a generation while nothing was measured."""
        limit_ms = None if after is None else after.at_ms
        last_ms = _last_sign_ms(generation, seat, after)
        for since_ms, until_ms in self._measured.unmeasured(generation.at_ms, last_ms, limit_ms):
            if generation.protocol is Protocol.CLASSIC:
                yield from self._between_commits(generation, seat, since_ms, until_ms)
            elif until_ms is not None or since_ms == generation.at_ms:
                yield Silence(generation.offset, seat, since_ms, since_ms if until_ms is None else until_ms, ended=_OFTEN)

    def _between_commits(self, generation: Generation, seat: Seat, heard_ms: int, last_ms: int | None) -> Iterator[Silence]:
        begins, ends = self._begins.get(seat, []), self._ends.get(seat, [])
        for place in range(bisect_left(ends, heard_ms), len(ends)):
            if last_ms is not None and begins[place] >= last_ms:
                break
            yield from self._silence(generation, seat, heard_ms, begins[place])
            heard_ms = ends[place]
        if last_ms is not None:
            yield from self._silence(generation, seat, heard_ms, last_ms)

    def _silence(self, generation: Generation, seat: Seat, from_ms: int, until_ms: int) -> Iterator[Silence]:
        sessions = (until_ms - from_ms) // self._session_ms
        if sessions > 0:
            yield Silence(generation.offset, seat, from_ms, until_ms, ended=sessions)


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


def certainty_of(silences: Sequence[Silence] | None) -> Certainty:
    """Return how certain it is which sessions would have ended. None: silences were not looked for."""
    if silences is None or any(each.ended > 1 for each in silences):
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
    away = Counter[Seat]()
    for at_ms, is_back, seat in sorted([*gone, *back]):
        away[seat] += -1 if is_back else 1
        members = {each: member for each, member in last.members.items() if not away[each]}
        reasons = () if is_back else (Reason(Why.SESSION_TIMEOUT, last.members[seat].member_id),)
        order = tuple(each for each in last.order if each in members)
        # It is in no record, and so has no offset; what its members had is unknown.
        changed = replace(last, offset=-1, at_ms=at_ms, members=members, order=order, assigned={}, reasons=reasons)
        yield Turn(replace(changed, before=None, fresh=frozenset()))
