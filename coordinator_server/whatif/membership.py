"""Rules of membership: what would have been no change of the group.

    static members     a member that leaves and comes back within its session is one restart: no other member notices
    longer sessions    a member whose session ended, and whose client came back soon after, would have survived
    rebalance delay    changes that come within a time of each other are one

The log does not say that two member ids are of one process. A return is a join of the same client id, at the same host if there
are several, or at any if that client id was never in two members at once. So what is saved is a bound, and known only where each
member had a client id and a host of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from coordinator_server.group.assign.order import order_members
from coordinator_server.group.why import Why
from coordinator_server.whatif.figures import Certainty, worst
from coordinator_server.whatif.life import Generation, LifeMember, Seat, Silence
from coordinator_server.whatif.silences import certainty_of, with_silences
from coordinator_server.whatif.turns import Turn


class Membership(Struct, frozen=True):
    """What to change: each is off by default. ``session_timeout_ms`` and ``delay_ms`` are 0 for as it was."""

    static: bool = False
    session_timeout_ms: int = 0
    delay_ms: int = 0


class Return(NamedTuple):
    """A member that went and came back: in which turns, under which seats. ``expired``: its session had ended.

    ``away_ms`` is from one change to the other, ``session_ms`` the member's session. ``certainty`` is whether another member may
    have been meant.
    """

    gone_in: int
    back_in: int
    seat: Seat
    new_seat: Seat
    away_ms: int
    session_ms: int
    expired: bool
    certainty: Certainty


class Altered(NamedTuple):
    """Turns that are left, those that would not have been, and who would have survived what.

    ``shortened_ms`` is the longest session of all members, if a shorter one is asked for, and 0 if not. ``silences`` is then how
    often a member was not heard of for so long; None if that is not known.
    """

    turns: list[Turn]
    saved: list[Turn]
    returns: list[Return]
    certainty: Certainty
    shortened_ms: int
    silences: int | None


def alter(
    turns: Sequence[Turn], membership: Membership, anchor: Sequence[Turn] = (), silences: Sequence[Silence] | None = None
) -> Altered:
    """Return the turns under other rules of membership. ``anchor`` is the turn before them, if there is one: it stays as it was.

    ``silences`` are those that are not shorter than the session that is asked for; None if they are not known.
    """
    whole, session_ms = [*anchor, *turns], membership.session_timeout_ms
    longest_ms = shortened_ms(whole, membership)
    certainty = certainty_of(silences) if longest_ms else Certainty.KNOWN
    silent = len(silences or ()) if longest_ms and certainty is not Certainty.UNKNOWN else None
    if certainty is Certainty.BOUND:
        whole = with_silences(whole, silences or (), session_ms)
    chosen = [each for each in returns_in(whole) if _is_survived(each, membership)]
    left, saved = _without(whole, chosen, is_static=membership.static)
    left, before = left[len(anchor) :], left[: len(anchor)]
    if membership.delay_ms:
        left, joined = _together(left, membership.delay_ms, before[0].generation.members if before else {})
        saved = sorted([*saved, *joined], key=lambda turn: turn.generation.offset)
    of_delay = Certainty.BOUND if membership.delay_ms else Certainty.KNOWN
    certainty = worst(certainty, of_delay, *(each.certainty for each in chosen))
    return Altered(left, saved, chosen, certainty, longest_ms, silent)


def shortened_ms(turns: Sequence[Turn], membership: Membership) -> int:
    """Return the longest session of all members, if the rule asks for a shorter one; 0 if it does not.

    What a shorter one would have ended has to be derived from silences (``silences.py``).
    """
    sessions = (member.session_ms for turn in turns for member in turn.generation.members.values())
    longest_ms = max(sessions, default=0)
    return longest_ms if 0 < membership.session_timeout_ms < longest_ms else 0


def returns_in(turns: Sequence[Turn]) -> list[Return]:
    """Return who went and came back, each member once, in the order in which they came back."""
    shared = _shared_clients(turns)
    away: dict[Seat, tuple[int, LifeMember, bool]] = {}
    found = []
    before: Mapping[Seat, LifeMember] = {}
    for number, turn in enumerate(turns):
        members = turn.generation.members
        for seat in before.keys() - members.keys():
            if before[seat].instance_id is None:
                away[seat] = number, before[seat], _has_expired(turn.generation, before[seat])
        for seat in sorted(members.keys() - before.keys()):
            member = members[seat]
            candidates = [each for each, (_, gone, _) in away.items() if _may_be(gone, member, shared)]
            if member.instance_id is not None or not candidates:
                continue
            chosen = min(candidates, key=lambda each: (away[each][1].client_host != member.client_host, -away[each][0], each))
            gone_in, gone, expired = away.pop(chosen)
            away_ms = max(0, turn.generation.began_ms - turns[gone_in].generation.began_ms)
            is_sure = len(candidates) == 1 and gone.client_host == member.client_host and gone.client_id not in shared
            certainty = Certainty.KNOWN if is_sure and turn.generation.took_ms is not None else Certainty.BOUND
            found.append(Return(gone_in, number, chosen, seat, away_ms, gone.session_ms, expired, certainty))
        before = members
    return found


def _shared_clients(turns: Sequence[Turn]) -> set[str]:
    """Return the client ids that two members had at once."""
    shared: set[str] = set()
    for turn in turns:
        seen: set[str] = set()
        for member in turn.generation.members.values():
            (shared if member.client_id in seen else seen).add(member.client_id)
    return shared


def _may_be(gone: LifeMember, member: LifeMember, shared: set[str]) -> bool:
    """Return whether a new member may be one that has gone."""
    is_same_place = gone.client_host == member.client_host or gone.client_id not in shared
    return gone.client_id == member.client_id and is_same_place and gone.wanted == member.wanted


def _has_expired(generation: Generation, member: LifeMember) -> bool:
    return any(each.why == Why.SESSION_TIMEOUT and each.whom == member.member_id for each in generation.reasons)


def _is_survived(each: Return, membership: Membership) -> bool:
    """Return whether the others would not have noticed."""
    session_ms = membership.session_timeout_ms
    if each.expired:
        return each.session_ms + each.away_ms < session_ms
    return membership.static and each.away_ms < (session_ms or each.session_ms)


def _without(turns: Sequence[Turn], chosen: Sequence[Return], *, is_static: bool) -> tuple[list[Turn], list[Turn]]:
    """Return the turns in which something would have changed, and the others."""
    if not chosen and not is_static:
        return list(turns), []
    first_seat: dict[Seat, Seat] = {}
    for each in chosen:
        first_seat[each.new_seat] = first_seat.get(each.seat, each.seat)
    gone_in, back_in = _by_turn(chosen, "gone_in"), _by_turn(chosen, "back_in")
    # Who is away, and the last generation with each.
    away: dict[Seat, Generation] = {}
    left: list[Turn] = []
    saved: list[Turn] = []
    recorded: tuple[object, ...] = ()
    for number, turn in enumerate(turns):
        generation = turn.generation
        for each in gone_in.get(number, ()):
            away[each.seat] = turns[number - 1].generation
        for each in back_in.get(number, ()):
            away.pop(each.seat)
        altered = _with_members(generation, away, first_seat, is_static=is_static)
        is_change = generation.signature != recorded
        if left and is_change and altered.signature == left[-1].generation.signature:
            saved.append(turn)
        else:
            left.append(Turn(altered, turn.follow_ups))
        recorded = generation.signature
    return left, saved


def _by_turn(returns: Sequence[Return], which: str) -> dict[int, list[Return]]:
    found: dict[int, list[Return]] = {}
    for each in returns:
        found.setdefault(getattr(each, which), []).append(each)
    return found


def _with_members(
    generation: Generation, away: Mapping[Seat, Generation], first_seat: Mapping[Seat, Seat], *, is_static: bool
) -> Generation:
    """Return a generation with those that are away and the topics that they want. All have the member ids that they had first."""
    there = dict(generation.members)
    topics = dict(generation.topics)
    for seat, last in away.items():
        there[seat] = last.members[seat]
        topics = {name: topic for name, topic in last.topics.items() if name in there[seat].wanted} | topics
    members: dict[Seat, LifeMember] = {}
    for seat, member in there.items():
        first = first_seat.get(seat, seat)
        named = replace(member, member_id=first) if member.instance_id is None else member
        members[first] = replace(named, instance_id=first) if is_static else named
    seats = {member.member_id: seat for seat, member in members.items()}
    return replace(
        generation,
        assignor=generation.assignor or next((last.assignor for last in away.values()), ""),
        members=members,
        order=tuple(seats[member_id] for member_id in order_members(list(seats))),
        topics=topics,
        before=None,
        fresh=frozenset(),
    )


def _together(turns: Sequence[Turn], delay_ms: int, before: Mapping[Seat, LifeMember]) -> tuple[list[Turn], list[Turn]]:
    """Return the turns, with those as one that begin within a time of a join, and the turns that have become a part of another."""
    left: list[Turn] = []
    saved: list[Turn] = []
    begun_ms: int | None = None
    for turn in turns:
        generation = turn.generation
        if begun_ms is not None and generation.members and generation.began_ms <= begun_ms + delay_ms:
            saved.append(left.pop())
            left.append(Turn(generation, turn.follow_ups, delay_ms))
        else:
            has_joined = generation.members.keys() - before.keys()
            begun_ms = generation.began_ms if has_joined else None
            left.append(Turn(generation, turn.follow_ups, delay_ms if has_joined else 0))
        before = generation.members
    return left, saved
