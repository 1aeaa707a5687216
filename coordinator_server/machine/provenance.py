"""Provenance: who was behind an operation and why, as headers of the first record that it wrote.

Kafka's loaders and tools pass headers by, so the log stays Kafka's own. All values are UTF-8 text, cut where they are longer than 2,047 bytes; what is empty
or unknown is left out; headers of other names are nobody's business here. In this order:

    op1        what ran: ``8/9`` is a request's API key and version, ``timer`` and ``server`` are this server's own doing. Always the
               first. The digit is the version of the format: a reader that does not know it knows nothing of the rest
    by         the principal; without it User:ANONYMOUS
    client     the client id of the request
    host       the address it came from
    member     the member id that the request gave
    instance   the group instance id that it gave (KIP-345)
    why        a Why, once for each reason, in the order in which they came up; each followed by
    whom         the member that the reason is about
    said         what its client gave as the reason (KIP-800), at most 255 characters

What depends on the connection and the API version alone is encoded once at most, as an Origin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

from protocol.record_batch import NO_HEADERS, VARINTS, Headers, Record, encode_header, joined_headers

FORMAT: Final = "op1"
TIMER: Final = "timer"
SERVER: Final = "server"
ANONYMOUS: Final = "User:ANONYMOUS"
_SHARED: Final = (FORMAT, "by", "client", "host")
LONGEST_SAID: Final = 255
LONGEST_BYTES: Final = len(VARINTS) - 1

_REQUEST: Final = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")


class Why(StrEnum):
    """Reasons, under names that stay: they are in logs. A reader has to expect others."""

    GROUP_CREATED = "group-created"  # somebody asked to join a group that there was not
    MEMBER_JOINED = "member-joined"
    MEMBER_REJOINED = "member-rejoined"  # with other protocols or metadata, or a leader that asks for a rebalance
    STATIC_MEMBER_RETURNED = "static-member-returned"  # under a new member id, which is told
    MEMBER_LEFT = "member-left"
    SESSION_TIMEOUT = "session-timeout"
    JOIN_TIMEOUT = "join-timeout"  # it did not join again while the others did
    SYNC_TIMEOUT = "sync-timeout"  # it joined, and never asked for its assignment
    ASSIGNMENTS_NOT_STORED = "assignments-not-stored"
    GROUP_OVER_MAX_SIZE = "group-over-max-size"
    GROUP_DELETED = "group-deleted"  # by DeleteGroups
    OFFSETS_DELETED = "offsets-deleted"  # by OffsetDelete
    OFFSETS_EXPIRED = "offsets-expired"  # with the group where those were its last
    OFFSETS_RESTORED = "offsets-restored"  # to those of a moment, which is told as what was said
    TOPIC_DELETED = "topic-deleted"  # what was committed for it goes, too; the topics are told as what was said
    TOPICS_DECLARED = "topics-declared"  # the ``topics`` property


class Reason(Struct, frozen=True, gc=False):
    """One reason. ``why`` is a Why where we wrote it."""

    why: str
    whom: str = ""
    said: str = ""


class Provenance(Struct, frozen=True):
    """What the headers of a record say. ``api_key`` and ``api_version`` are -1 unless a request ran."""

    operation: str
    api_key: int = -1
    api_version: int = -1
    principal: str = ANONYMOUS
    client_id: str = ""
    client_host: str = ""
    member_id: str = ""
    group_instance_id: str | None = None
    reasons: tuple[Reason, ...] = ()


def _header(name: str, value: str) -> bytes:
    raw = value.encode()
    if len(raw) > LONGEST_BYTES:
        raw = raw[:LONGEST_BYTES].decode(errors="ignore").encode()
    return encode_header(name, raw)


class Origin:
    """The part of the headers that many operations share, as bytes. They are made when they are first needed: most connections never write."""

    __slots__ = ("_count", "_encoded", "_who", "alone", "before_member")

    def __init__(self, *who: str) -> None:
        """``who`` are the values of the first headers: what ran, principal, client id, host."""
        self._who = who
        self._encoded = b""
        self._count = 0
        # Complete, for operations of nobody in particular, and all that stands before the size of a member id that comes last.
        self.alone = b""
        self.before_member = b""

    def complete(self) -> None:
        """Make the bytes."""
        headers = [(name, value) for name, value in zip(_SHARED, self._who, strict=False) if value]
        self._encoded = b"".join([_header(name, value) for name, value in headers])
        self._count = len(headers)
        self.alone = joined_headers(self._count, self._encoded)
        self.before_member = joined_headers(self._count + 1, self._encoded) + encode_header("member", b"")[:-1]

    def followed_by(self, headers: Sequence[tuple[str, str]]) -> bytes:
        """Complete, with more headers behind."""
        more = b"".join([_header(name, value) for name, value in headers])
        return joined_headers(self._count + len(headers), self._encoded + more)


TIMER_ORIGIN: Final = Origin(TIMER)
SERVER_ORIGIN: Final = Origin(SERVER)


def request_origin(api_key: int, api_version: int, client_id: str, client_host: str, principal: str = ANONYMOUS) -> Origin:
    """The origin of the requests of one API version on one connection."""
    return Origin(f"{api_key}/{api_version}", "" if principal == ANONYMOUS else principal, client_id, client_host)


def operation_headers(origin: Origin | None, member_id: str, group_instance_id: str | None, reasons: Sequence[Reason]) -> bytes:
    """The headers of an operation's first record as they stand in the record; none without an origin."""
    if origin is None:
        return NO_HEADERS
    if not origin.alone:
        origin.complete()
    if reasons or group_instance_id is not None:
        return origin.followed_by(_more_headers(member_id, group_instance_id, reasons))
    if not member_id:
        return origin.alone
    member = member_id.encode()
    size = len(member)
    if size > LONGEST_BYTES:
        return origin.followed_by([("member", member_id)])
    return b"%b%b%b" % (origin.before_member, VARINTS[size], member)


def read_provenance(headers: Headers) -> Provenance | None:
    """What a record's headers say; None for a record that does not begin an operation, or of another writer."""
    if not headers or headers[0][0] != FORMAT:
        return None
    texts = [(name, (content or b"").decode(errors="replace")) for name, content in headers]
    known = dict(reversed(texts))
    request = _REQUEST.fullmatch(known[FORMAT])
    api_key, api_version = (int(request[1]), int(request[2])) if request is not None else (-1, -1)
    return Provenance(
        known[FORMAT],
        api_key,
        api_version,
        known.get("by", ANONYMOUS),
        known.get("client", ""),
        known.get("host", ""),
        known.get("member", ""),
        known.get("instance"),
        tuple(_reasons(texts)),
    )


def attributed(records: Iterable[Record]) -> Iterator[tuple[Record, Provenance | None]]:
    """Records in the order of their offsets, each with the provenance of the operation that wrote it, where that can be told.

    An operation's other records stand right behind its first, at the same time. Where compaction has left a gap, they may be another one's.
    """
    provenance: Provenance | None = None
    next_offset = timestamp = -1
    for record in records:
        if record.headers:
            provenance = read_provenance(record.headers)
        elif record.offset != next_offset or record.timestamp != timestamp:
            provenance = None
        next_offset, timestamp = record.offset + 1, record.timestamp
        yield record, provenance


def _more_headers(member_id: str, group_instance_id: str | None, reasons: Sequence[Reason]) -> list[tuple[str, str]]:
    headers = [("member", member_id)] if member_id else []
    if group_instance_id is not None:
        headers.append(("instance", group_instance_id))
    for reason in reasons:
        headers.append(("why", reason.why))
        if reason.whom:
            headers.append(("whom", reason.whom))
        if reason.said:
            headers.append(("said", reason.said[:LONGEST_SAID]))
    return headers


def _reasons(texts: Iterable[tuple[str, str]]) -> Iterable[Reason]:
    parts: dict[str, str] = {}
    for name, text in texts:
        if name == "why":
            if parts:
                yield Reason(**parts)
            parts = {"why": text}
        elif name in ("whom", "said") and parts:
            parts[name] = text
    if parts:
        yield Reason(**parts)
