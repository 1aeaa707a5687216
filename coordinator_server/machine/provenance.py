"""Provenance: who was behind an operation and why, as headers of the first record that it wrote.

Kafka's loaders and tools pass headers by, so the log stays Kafka's own. All values are UTF-8 text, cut where they are longer than 2,047 bytes; what is empty
or unknown is left out; headers of other names are nobody's business here. In this order:

    op1        what ran: ``8/9`` is a request's API key and version, ``timer``, ``server``, ``shard`` (the message of
               another shard, or its answer) and ``task`` (what a child process has computed) are this server's own doing. Always the first. The digit is the version of the format: a reader that does not know it knows nothing of the rest
    by         the principal; without it User:ANONYMOUS
    client     the client id of the request
    host       the address it came from
    …          what a kind of shard says of its own: see its module (``offsets/attribution.py`` has two)
    why        a reason, once for each, in the order in which they came up; each followed by
    whom         whom the reason is about
    said         what its client gave as the reason (KIP-800), at most 255 characters

What depends on the connection and the API version alone is encoded once at most, as an Origin. What the operation adds is its Attribution.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from protocol.batch_builder import NO_HEADERS, VARINTS, encode_header, joined_headers
from protocol.record_batch import Headers, Record

FORMAT: Final = "op1"
TIMER: Final = "timer"
SERVER: Final = "server"
SHARD: Final = "shard"
TASK: Final = "task"
ANONYMOUS: Final = "User:ANONYMOUS"
_SHARED: Final = (FORMAT, "by", "client", "host")
_REASON: Final = ("why", "whom", "said")
LONGEST_SAID: Final = 255
LONGEST_BYTES: Final = len(VARINTS) - 1

_REQUEST: Final = re.compile(r"([0-9]{1,5})/([0-9]{1,5})")


class Reason(Struct, frozen=True, gc=False):
    """One reason. ``why`` is one of the names that the shard's kind has for its reasons: they are in logs, and stay."""

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
    reasons: tuple[Reason, ...] = ()
    # Headers of other names, in order: who wrote them knows what they mean.
    others: tuple[tuple[str, str], ...] = ()


class Attribution:
    """What a state machine says of an operation, behind its origin: headers as they stand in a record, one after another. A value."""

    __slots__ = ("count", "encoded")

    def __init__(self, count: int, encoded: bytes) -> None:
        self.count = count
        self.encoded = encoded

    def followed_by(self, other: Attribution) -> Attribution:
        """Both."""
        return Attribution(self.count + other.count, self.encoded + other.encoded)


def attribution_header(name: str, value: str) -> bytes:
    """One header as it stands in a record."""
    raw = value.encode()
    if len(raw) > LONGEST_BYTES:
        raw = raw[:LONGEST_BYTES].decode(errors="ignore").encode()
    return encode_header(name, raw)


def because(*reasons: Reason) -> Attribution:
    """Why an operation has anything to write."""
    headers: list[bytes] = []
    for reason in reasons:
        headers.append(attribution_header("why", reason.why))
        if reason.whom:
            headers.append(attribution_header("whom", reason.whom))
        if reason.said:
            headers.append(attribution_header("said", reason.said[:LONGEST_SAID]))
    return Attribution(len(headers), b"".join(headers))


class Origin:
    """The part of the headers that many operations share, as bytes. They are made when they are first needed: most connections never write."""

    __slots__ = ("_count", "_encoded", "_who", "alone", "before_one")

    def __init__(self, *who: str) -> None:
        """``who`` are the values of the first headers: what ran, principal, client id, host."""
        self._who = who
        self._encoded = b""
        self._count = 0
        # Complete, for operations that have nothing to add, and all that stands before the one header of those that have one.
        self.alone = b""
        self.before_one = b""

    def complete(self) -> None:
        """Make the bytes."""
        headers = [(name, value) for name, value in zip(_SHARED, self._who, strict=False) if value]
        self._encoded = b"".join([attribution_header(name, value) for name, value in headers])
        self._count = len(headers)
        self.alone = joined_headers(self._count, self._encoded)
        self.before_one = joined_headers(self._count + 1, self._encoded)

    def followed_by(self, attribution: Attribution) -> bytes:
        """Complete, with more headers behind."""
        return joined_headers(self._count + attribution.count, self._encoded + attribution.encoded)


TIMER_ORIGIN: Final = Origin(TIMER)
SERVER_ORIGIN: Final = Origin(SERVER)
SHARD_ORIGIN: Final = Origin(SHARD)
TASK_ORIGIN: Final = Origin(TASK)


def request_origin(api_key: int, api_version: int, client_id: str, client_host: str, principal: str = ANONYMOUS) -> Origin:
    """The origin of the requests of one API version on one connection."""
    return Origin(f"{api_key}/{api_version}", "" if principal == ANONYMOUS else principal, client_id, client_host)


def operation_headers(origin: Origin | None, attribution: Attribution | None) -> bytes:
    """The headers of an operation's first record as they stand in the record; none without an origin."""
    if origin is None:
        return NO_HEADERS
    if not origin.alone:
        origin.complete()
    if attribution is None:
        return origin.alone
    if attribution.count == 1:
        # Nearly all records are of operations that name whoever they are for, and no more.
        return origin.before_one + attribution.encoded
    return origin.followed_by(attribution)


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
        tuple(_reasons(texts)),
        tuple([each for each in texts if each[0] not in _SHARED and each[0] not in _REASON]),
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
