"""What ``groups why`` prints of an event: one sentence with its cause, and who made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from coordinator_server.cli.output import counted
from coordinator_server.cli.times import shown
from coordinator_server.group.why import Why
from coordinator_server.machine.provenance import Reason
from coordinator_server.pipeline.replay.consumer_events import (
    DELETED,
    DELETING,
    EPOCH,
    INITIALIZED,
    INITIALIZING,
    LEFT,
    SETTLED,
    TARGET,
    MemberChanges,
)
from coordinator_server.pipeline.replay.group_events import (
    COMMITTED,
    CREATED,
    EMPTY,
    GENERATION,
    KEPT,
    NOT_COMMITTED,
    OFFSETS_DELETED,
    OFFSETS_RESTORED,
    REFUSED,
    RESET,
    TO_CLASSIC,
    TO_CONSUMER,
    Event,
    OffsetChange,
)
from coordinator_server.pipeline.states.changes import Change

_SENTENCES: Final = {
    CREATED: "created",
    GENERATION: "generation {generation}, {members}{duration}",
    EMPTY: "generation {generation}, empty{duration}",
    DELETED: "deleted",
    KEPT: "has no offsets left",
    COMMITTED: "{commits}{offsets}",
    NOT_COMMITTED: "not committed, {transactions} aborted, {offsets}",
    REFUSED: "commit refused, {error}",
    RESET: "reset by an operator, {offsets}",
    OFFSETS_DELETED: "{count} deleted, {offsets}",
    OFFSETS_RESTORED: "{count} restored, {offsets}",
    EPOCH: "epoch {epoch}, {members}",
    TARGET: "target of epoch {epoch} after {seconds:.1f} s",
    SETTLED: "settled in epoch {epoch} after {seconds:.1f} s",
    INITIALIZING: "initializes share partitions {partitions}",
    INITIALIZED: "share partitions {partitions} are initialized",
    DELETING: "deletes the share partitions of {partitions}",
    TO_CLASSIC: TO_CLASSIC,
    TO_CONSUMER: TO_CONSUMER,
}
_CAUSES: Final[Mapping[str, str]] = {
    Why.GROUP_CREATED: "its first member joined",
    Why.MEMBER_JOINED: "{whom} joined",
    Why.MEMBER_REJOINED: "{whom} joined again",
    Why.STATIC_MEMBER_RETURNED: "a static member returned as {whom}",
    Why.MEMBER_LEFT: "{whom} left",
    Why.SESSION_TIMEOUT: "session of {whom} timed out",
    Why.JOIN_TIMEOUT: "{whom} did not join again in time",
    Why.SYNC_TIMEOUT: "{whom} did not ask for its assignment in time",
    Why.ASSIGNMENTS_NOT_STORED: "the assignments could not be stored",
    Why.GROUP_OVER_MAX_SIZE: "{whom} was one more than group.max.size",
    Why.GROUP_DELETED: "an operator asked for it",
    Why.OFFSETS_DELETED: "an operator asked for it",
    Why.OFFSETS_EXPIRED: "expired",
    Why.OFFSETS_RESTORED: "a restore to {said}",
    Why.OFFSETS_ALTERED: "its start offsets were set",
    Why.TOPIC_DELETED: "topic {said} was deleted",
    Why.RECONCILED: "{whom} moved towards its target",
    Why.GROUP_UPGRADED: "a member joined by the consumer protocol",
    Why.GROUP_DOWNGRADED: "the last member of the consumer protocol left",
    Why.STATIC_MEMBER_AWAY: "{whom} left for a while",
    Why.SUBSCRIPTION_CHANGED: "{whom} changed its subscription",
    Why.TOPICS_CHANGED: "its topics changed",
    Why.SETTINGS_CHANGED: "its standby replicas changed",
    Why.REVOCATION_TIMEOUT: "{whom} did not give up its partitions in time",
    Why.ASSIGNMENT_DUE: "for an earlier change",
    Why.PARTITIONS_INITIALIZED: "its share partitions have a state",
    Why.PARTITIONS_NOT_INITIALIZED: "its share partitions got no state",
}
"""By the name of a reason. Logs of later versions may have others."""
MOST_PARTITIONS: Final = 8
MOST_MEMBERS: Final = 8
# The epoch of a static member of the consumer protocol that has left for a while.
AWAY: Final = -2
_REBALANCES: Final = frozenset({GENERATION, EMPTY, EPOCH})
_SAYS_MORE: Final = (Why.OFFSETS_RESTORED, Why.TOPIC_DELETED)


def event_line(event: Event) -> str:
    """Return the line of an event."""
    return f"{shown(event.at_ms)}  {event_sentence(event)}"


def event_sentence(event: Event) -> str:
    """Return an event in words, without its time."""
    by = _change_of(event)
    cause = event_cause(event)
    maker = _maker(event, by) if by is not None else ""
    return _what(event) + (f": {cause}" if cause else "") + (f" ({maker})" if maker else "")


def event_cause(event: Event) -> str:
    """Return why it happened; nothing if no reason is known.

    Kafka's log has no reasons: there they are derived from who came and went.
    """
    by = _change_of(event)
    if event.by is None and event.what in _REBALANCES:
        return _derived(event)
    return "; ".join([*([_cause(event, each) for each in by.reasons] if by is not None else []), *_other_members(event)])


def _change_of(event: Event) -> Change | None:
    """Return who made an event. A step names its member, and the epoch that it belongs to has the causes."""
    return None if event.member is not None or event.what == SETTLED else event.by


def _what(event: Event) -> str:
    if event.member is not None:
        return _step(event, event.member)
    if event.what == EMPTY and event.epoch is not None:
        return f"epoch {event.epoch}, empty"
    seconds = (event.after_ms or 0) / 1000
    return _SENTENCES[event.what].format(
        generation=event.generation,
        members=counted(event.members or 0, "member"),
        duration="" if event.after_ms is None else f", after {seconds:.1f} s",
        count=counted(len(event.changes), "offset"),
        offsets=_changes(event.changes),
        commits=_commits(event),
        transactions=counted(event.commits, "transaction") if event.commits else "its transaction",
        epoch=event.epoch,
        seconds=seconds,
        partitions=_some(event.partitions),
        error=event.error,
    )


def _commits(event: Event) -> str:
    """Return what begins the line of one commit, or of a run of commits."""
    what = "in a transaction " if event.in_transaction else ""
    if event.commits and event.until_ms is not None:
        what = " in transactions" if event.in_transaction else ""
        return f"{event.commits:,} commits{what} until {shown(event.until_ms)}, "
    return f"committed {what}"


def _changes(changes: Sequence[OffsetChange]) -> str:
    """Return offsets before and after."""
    return _some([f"{each.topic}-{each.partition} {_value(each.before)} → {_value(each.after)}" for each in changes])


def _value(offset: int | None) -> str:
    return "none" if offset is None else str(offset)


def whose(event: Event, member_id: str) -> str:
    """Return a member with its client and its host, as far as the event has them."""
    client = event.clients.get(member_id)
    if client is None:
        return member_id
    # Ids that the server has made for members of the classic protocol begin with the client's.
    name = "" if not client.client_id or member_id.startswith(client.client_id) else f" of {client.client_id}"
    return f"{member_id}{name}" + (f" at {client.client_host}" if client.client_host else "")


def _other_members(event: Event) -> list[str]:
    """Return the members of which no cause says that they came or went."""
    named = {each.whom for each in event.by.reasons} if event.by is not None else set()
    return [
        f"{_some([whose(event, each) for each in rest], MOST_MEMBERS)} {verb}"
        for members, verb in ((event.joined, "joined"), (event.gone, "gone"))
        if (rest := [each for each in members if each not in named])
    ]


def _derived(event: Event) -> str:
    """Return what follows from the members of a rebalance. One that is gone while its client joins has begun anew."""
    words, joined, gone = [], list(event.joined), list(event.gone)
    for old in event.gone:
        client = event.clients.get(old)
        new = next((each for each in joined if client is not None and event.clients.get(each) == client), None)
        if new is not None:
            words.append(f"{whose(event, old)} began anew as {new}")
            joined.remove(new)
            gone.remove(old)
    for members, verb in ((joined, "joined"), (gone, "left, or timed out")):
        if members:
            words.append(f"{_some([whose(event, each) for each in members], MOST_MEMBERS)} {verb}")
    if not words and event.what == EMPTY:
        return ""
    return "; ".join(words or ["no member came or went: one joined again, or its topics changed"]) + " (derived)"


def _step(event: Event, member: MemberChanges) -> str:
    """Return what a member of the consumer protocol gave up, gets and waits for."""
    who = whose(event, member.member_id)
    if event.what == LEFT:
        freed = f", {_some(member.gave_up)} {'is' if len(member.gave_up) == 1 else 'are'} free" if member.gave_up else ""
        return f"{who} is gone{freed}"
    changes = [
        f"{verb} {_some(partitions)}"
        for verb, partitions in (
            ("has given up", member.gave_up),
            ("gets", member.gets),
            ("must give up", member.gives_up),
            *((f"waits for {whose(event, each.member_id)} to give up", each.partitions) for each in member.waits_for),
        )
        if partitions
    ]
    epoch = "is away" if member.epoch == AWAY else f"in epoch {member.epoch}"
    return f"{who} {epoch}{': ' if changes else ''}{'; '.join(changes)}"


def _some(names: Sequence[str], most: int = MOST_PARTITIONS) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")


def _cause(event: Event, reason: Reason) -> str:
    return reason_words(reason, whose(event, reason.whom) if reason.whom else "a member")


def reason_words(reason: Reason, whom: str | None = None) -> str:
    """Return a reason in words. ``whom`` says more of its subject than the member id."""
    sentence = _CAUSES.get(reason.why)
    if sentence is None:
        sentence = f"{reason.why} {{whom}}".rstrip() if reason.whom else reason.why
    said = f' ("{reason.said}")' if reason.said and reason.why not in _SAYS_MORE else ""
    return sentence.format(whom=whom or reason.whom or "a member", said=reason.said) + said


def _maker(event: Event, by: Change) -> str:
    """Return who made the change; nothing for what the server did by itself."""
    if not (by.client_id or by.client_host):
        return ""
    words = ["stored by leader" if event.what == GENERATION else f"{by.operation} of"]
    name = by.client_id or "a client without a name"
    if not by.member_id:
        words.append(name)
    else:
        words.append(by.member_id if by.member_id.startswith(name) else f"{by.member_id} of {name}")
    if by.client_host:
        words.append(f"at {by.client_host}")
    if by.known_principal:
        words.append(f"as {by.known_principal}")
    return " ".join(words)


def partitions_text(assignment: Mapping[str, Sequence[int]]) -> str:
    """Return an assignment as text."""
    return "; ".join(f"{topic} {','.join(map(str, partitions))}" for topic, partitions in assignment.items()) or "no partitions"
