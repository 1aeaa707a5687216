"""What to change about a group, in words, with what speaks for it. A rule is recommended for what it would have saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Final, NamedTuple

from msgspec import Struct

from coordinator_server.whatif.figures import Certainty, Cost, total, worst
from coordinator_server.whatif.membership import Membership, Return, alter, returns_in
from coordinator_server.whatif.rules import RULES
from coordinator_server.whatif.verdict import Period, Question, played

DELAY_MS: Final = 3_000
"""Kafka's default of group.initial.rebalance.delay.ms."""
_ASSIGNORS: Final = ("cooperative-sticky", "uniform")
"""Of each protocol the one that moves least, and under which only what moves stops."""
_HEDGES: Final = {Certainty.KNOWN: "", Certainty.BOUND: "at most ", Certainty.UNKNOWN: "perhaps "}
_STEP_MS: Final = 15_000
_LONGEST_SESSION_MS: Final = 300_000
_MOST_EXAMPLES: Final = 3
_MS: Final = {"h": 3_600_000, "min": 60_000, "s": 1_000}


class Saving(Struct, frozen=True):
    """A rule, what the group would have cost by it, what that saves, and the sentences that say so.

    ``question`` is the rule as one asks for it. ``certainty`` is that of the least certain number.
    """

    rule: str
    question: Question
    cost: Cost
    rebalances: int
    needless: int
    standstill_ms: int | None
    certainty: Certainty
    text: str
    evidence: tuple[str, ...] = ()

    @property
    def gain(self) -> tuple[int, int, int]:
        """What savings are compared by: standstill, rebalances, moves."""
        return self.standstill_ms or 0, self.rebalances, self.needless


_Said = tuple[str, tuple[str, ...]]


class _Candidate(NamedTuple):
    """A rule that may be recommended. ``says`` are the words and the evidence, from what it was and what is saved, in words."""

    name: str
    question: Question
    says: Callable[[Period, Cost, str], _Said]


def advise(period: Period, before: Cost) -> list[Saving]:
    """Return what would have saved something in a period, the best first. ``before`` is what the period has cost."""
    found = []
    for candidate in _candidates(period):
        altered = alter(period.turns, candidate.question.membership, period.anchor)
        if candidate.question.assignor is None and not altered.saved:
            continue
        after = played(period, altered, candidate.question.assignor)
        saving = _saving(candidate, period, before, total(each.cost for each in after))
        if any(each > 0 for each in saving.gain):
            found.append(saving)
    return sorted(found, key=lambda each: each.gain, reverse=True)


def _saving(candidate: _Candidate, period: Period, before: Cost, after: Cost) -> Saving:
    rebalances = (before.rebalances.value or 0) - (after.rebalances.value or 0)
    needless = (before.needless.value or 0) - (after.needless.value or 0)
    was_ms, is_ms = before.standstill_ms, after.standstill_ms
    standstill_ms = None if Certainty.UNKNOWN in {was_ms.certainty, is_ms.certainty} else (was_ms.value or 0) - (is_ms.value or 0)
    figures = [before.rebalances, after.rebalances, before.needless, after.needless]
    figures += [was_ms, is_ms] if standstill_ms is not None else []
    certainty = worst(*(each.certainty for each in figures))
    saved = _saved(rebalances, needless, standstill_ms, certainty)
    text, evidence = candidate.says(period, before, saved)
    return Saving(candidate.name, candidate.question, after, rebalances, needless, standstill_ms, certainty, text, evidence)


def _candidates(period: Period) -> Iterator[_Candidate]:
    """Return the rules that may help: those of membership where members came back, and better assignors than that in force."""
    returned = returns_in([*period.anchor, *period.turns])
    if any(not each.expired for each in returned):
        yield _Candidate("static members", Question(None, Membership(static=True)), _of_restarts)
    session_ms = _session_for([each for each in returned if each.expired])
    if session_ms:
        yield _Candidate(
            f"session of {duration_text(session_ms)}", Question(None, Membership(session_timeout_ms=session_ms)), _of_sessions
        )
    yield _Candidate(f"delay of {duration_text(DELAY_MS)}", Question(None, Membership(delay_ms=DELAY_MS)), _of_joins)
    last = next((turn.generation.assignor for turn in reversed(period.turns) if turn.generation.members), "")
    in_force = RULES.get(last)
    for name in _ASSIGNORS if in_force is not None else ():
        if name != last:
            yield _Candidate(name, Question(name), partial(_of_assignor, name))


def _session_for(expired: Sequence[Return]) -> int:
    """Return the shortest session, in steps, that all of them would have survived, up to a limit; 0 if none expired."""
    needed = [each.session_ms + each.away_ms for each in expired]
    wanted = [each for each in needed if each < _LONGEST_SESSION_MS]
    return -(-(max(wanted) + 1) // _STEP_MS) * _STEP_MS if wanted else 0


def _saved(rebalances: int, needless: int, standstill_ms: int | None, certainty: Certainty) -> str:
    """Return what was saved, in words."""
    parts = [f"{rebalances:,} of its rebalances"] if rebalances > 0 else []
    parts += [f"{needless:,} needless moves of partitions"] if needless > 0 else []
    if standstill_ms is not None and standstill_ms > 0:
        parts.append(f"{duration_text(standstill_ms)} of standstill")
    price = [f"{-rebalances:,} more rebalances"] if rebalances < 0 else []
    price += [f"{duration_text(-standstill_ms)} more of standstill"] if standstill_ms is not None and standstill_ms < 0 else []
    return _HEDGES[certainty] + _listed(parts) + (f", for {_listed(price)}" if price else "")


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _of_restarts(period: Period, before: Cost, saved: str) -> _Said:
    returned = [each for each in returns_in([*period.anchor, *period.turns]) if not each.expired]
    turns = {number for each in returned for number in (each.gone_in, each.back_in)}
    count = f"{len(turns):,} of {len(period.turns):,} changes were restarts: {len(returned):,} times a member came back"
    return f"{count}; static members (group.instance.id) would have saved {saved}", _examples(period, returned)


def _of_sessions(period: Period, before: Cost, saved: str) -> _Said:
    returned = [each for each in returns_in([*period.anchor, *period.turns]) if each.expired]
    session = duration_text(_session_for(returned))
    count = f"{len(returned):,} times a member came back whose session had ended"
    return f"{count}; a session.timeout.ms of {session} would have saved {saved}", _examples(period, returned)


def _of_joins(period: Period, before: Cost, saved: str) -> _Said:
    delay = duration_text(DELAY_MS)
    return f"changes began within {delay} of a join; a rebalance that waits for {delay} would have saved {saved}", ()


def _of_assignor(name: str, period: Period, before: Cost, saved: str) -> _Said:
    moved, needless = before.moved.value or 0, before.needless.value or 0
    stops = before.stopped.value or 0
    count = f"{needless:,} of {moved:,} moves of partitions were needless, and members stopped {stops:,} times"
    return f"{count}; {name} would have saved {saved}", ()


def _examples(period: Period, returned: Sequence[Return]) -> tuple[str, ...]:
    turns = [*period.anchor, *period.turns]
    found = []
    for each in returned[:_MOST_EXAMPLES]:
        member = turns[each.back_in].generation.members[each.new_seat]
        at = datetime.fromtimestamp(turns[each.gone_in].generation.at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        place = f" at {member.client_host}" if member.client_host else ""
        found.append(f"{member.client_id or each.new_seat}{place} was away for {duration_text(each.away_ms)} from {at}")
    return tuple(found)


def duration_text(ms: int) -> str:
    """Return a time in the two largest units that it has: ``6 min 12 s``, ``450 ms``."""
    if ms < _MS["s"]:
        return f"{ms} ms"
    parts: list[str] = []
    for unit, size in _MS.items():
        count, ms = divmod(ms, size)
        if count or parts:
            parts.append(f"{count} {unit}")
    return " ".join([part for part in parts[:2] if not part.startswith("0 ")])
