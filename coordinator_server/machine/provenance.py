"""Provenance: who caused an operation and why, as headers of the first record that the operation wrote.

Kafka's loaders and tools ignore record headers, so the log stays readable by Kafka. All values are UTF-8 text, truncated
to 2,047 bytes. Empty and unknown values are omitted. Headers with other names are ignored here. The order is:

    op1        what ran; always the first header. ``8/9`` is a request's API key and version. Operations of this server are
               ``timer``, ``server``, ``shard`` (a message from another shard, or the answer to one) and ``task`` (the
               result of a child process). The digit in ``op1`` is the version of the format: a reader that does not know
               the version must ignore all the headers
    by         the principal; if absent, User:ANONYMOUS
    client     the client id of the request
    host       the address that the request came from
    …          headers of a kind of shard: see its module (``offsets/attribution.py`` has two)
    why        a reason, repeated for each reason in the order in which they arose; each is followed by
    whom         the subject of the reason
    said         the reason given by the subject's client (KIP-800), at most 255 characters

An Origin holds the headers that depend only on the connection and the API version; it is encoded at most once. An
Attribution holds the headers that the operation adds.
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
    """One reason. ``why`` is one of the reason names of a kind of shard. Existing logs contain these names: never change one."""

    why: str
    whom: str = ""
    said: str = ""


class Provenance(Struct, frozen=True):
    """The decoded headers of a record. ``api_key`` and ``api_version`` are -1 unless a request ran."""

    operation: str
    api_key: int = -1
    api_version: int = -1
    principal: str = ANONYMOUS
    client_id: str = ""
    client_host: str = ""
    reasons: tuple[Reason, ...] = ()
    # Headers with other names, in order. Their meaning belongs to the kind of shard that wrote them.
    others: tuple[tuple[str, str], ...] = ()


class Attribution:
    """The headers that a state machine adds to an operation's origin, encoded as in a record. Immutable."""

    __slots__ = ("count", "encoded")

    def __init__(self, count: int, encoded: bytes) -> None:
        self.count = count
        self.encoded = encoded

    def followed_by(self, other: Attribution) -> Attribution:
        """Return the headers of both, ``other`` last."""
        return Attribution(self.count + other.count, self.encoded + other.encoded)


def attribution_header(name: str, value: str) -> bytes:
    """Return one header, encoded as in a record."""
    raw = value.encode()
    if len(raw) > LONGEST_BYTES:
        raw = raw[:LONGEST_BYTES].decode(errors="ignore").encode()
    return encode_header(name, raw)


def because(*reasons: Reason) -> Attribution:
    """Return an attribution with the reasons of an operation."""
    headers: list[bytes] = []
    for reason in reasons:
        headers.append(attribution_header("why", reason.why))
        if reason.whom:
            headers.append(attribution_header("whom", reason.whom))
        if reason.said:
            headers.append(attribution_header("said", reason.said[:LONGEST_SAID]))
    return Attribution(len(headers), b"".join(headers))


class Origin:
    """The encoded headers that many operations share. Encoded on first use: most connections never write."""

    __slots__ = ("_count", "_encoded", "_who", "alone", "before_one")

    def __init__(self, *who: str) -> None:
        """Take the values of the first headers: what ran, principal, client id, host."""
        self._who = who
        self._encoded = b""
        self._count = 0
        # ``alone`` is complete, for operations without an attribution. ``before_one`` precedes an attribution of one header.
        self.alone = b""
        self.before_one = b""

    def complete(self) -> None:
        """Encode the headers."""
        headers = [(name, value) for name, value in zip(_SHARED, self._who, strict=False) if value]
        self._encoded = b"".join([attribution_header(name, value) for name, value in headers])
        self._count = len(headers)
        self.alone = joined_headers(self._count, self._encoded)
        self.before_one = joined_headers(self._count + 1, self._encoded)

    def followed_by(self, attribution: Attribution) -> bytes:
        """Return the complete headers, with those of ``attribution`` last."""
        return joined_headers(self._count + attribution.count, self._encoded + attribution.encoded)


TIMER_ORIGIN: Final = Origin(TIMER)
SERVER_ORIGIN: Final = Origin(SERVER)
SHARD_ORIGIN: Final = Origin(SHARD)
TASK_ORIGIN: Final = Origin(TASK)


def request_origin(api_key: int, api_version: int, client_id: str, client_host: str, principal: str = ANONYMOUS) -> Origin:
    """Return the origin for requests of one API version on one connection."""
    return Origin(f"{api_key}/{api_version}", "" if principal == ANONYMOUS else principal, client_id, client_host)


def operation_headers(origin: Origin | None, attribution: Attribution | None) -> bytes:
    """Return the encoded headers of an operation's first record, or NO_HEADERS without an origin."""
    if origin is None:
        return NO_HEADERS
    if not origin.alone:
        origin.complete()
    if attribution is None:
        return origin.alone
    if attribution.count == 1:
        # The common case: most operations add only the header that names their subject.
        return origin.before_one + attribution.encoded
    return origin.followed_by(attribution)


def read_provenance(headers: Headers) -> Provenance | None:
    """Decode a record's headers. Return None if the record is not the first of an operation, or has a different writer."""
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
    """Yield each record with the provenance of the operation that wrote it, or None if unknown. Records come in offset order.

    The further records of an operation directly follow its first record and have the same timestamp. After a gap left by
    compaction a record may belong to a different operation, so its provenance is unknown.
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
