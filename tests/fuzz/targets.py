"""What is fuzzed: every decoder of bytes that strangers send, or that a damaged disk returns.

An input is three bytes that name a target, and the bytes that it gets. The name is a checksum of the target's own, so that the kept
inputs mean the same when messages are added. ``run`` raises whatever should not have happened.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final
from zlib import crc32

from protocol import coordinator_records
from protocol.batch_builder import BatchBuilder, encode_headers
from protocol.codec import decode, decoder, encode
from protocol.errors import DecodeError
from protocol.fields import Message
from protocol.frames import FrameSplitter, decode_request_header
from protocol.record_batch import iter_batches, iter_records, read_header
from protocol.schema import all_messages

Target = Callable[[bytes], None]

SELECTOR_SIZE: Final = 3
MAX_FRAME: Final = 1000
MAX_RECORDS_BYTES: Final = 1 << 20


def run(data: bytes) -> None:
    """One execution."""
    name = int.from_bytes(data[:SELECTOR_SIZE], "big")
    _BY_NAME.get(name, _ALL[name % len(_ALL)])(data[SELECTOR_SIZE:])


def seeds() -> list[bytes]:
    """An input for each target to begin with: its default value, or a small good one."""
    return [selector(name) + _SEEDS.get(name, lambda name=name: _default(name))() for name in TARGETS]


def selector(name: str) -> bytes:
    return (crc32(name.encode()) & 0xFFFFFF).to_bytes(SELECTOR_SIZE, "big")


def _message(message: type[Message], version: int, data: bytes) -> None:
    """A value or our error; and the value is one that can be written and read again."""
    value, end = decoder(message, version)(data, 0)
    assert end <= len(data)
    written = encode(value, version)
    assert encode(decode(message, version, written), version) == written


def _frames(data: bytes) -> None:
    """However a stream is cut, the frames are the same."""
    if not data:
        return
    cut, stream = data[0], data[1:]
    whole = FrameSplitter(MAX_FRAME).feed(stream)
    splitter = FrameSplitter(MAX_FRAME)
    parts = [frame for at in range(0, len(stream), cut + 1) for frame in splitter.feed(stream[at : at + cut + 1])]
    assert parts == whole


def _batches(data: bytes) -> None:
    """Batches whose checksum need not hold: few inputs would get past it."""
    header = read_header(data)
    for record in iter_records(data, 0, header, MAX_RECORDS_BYTES):
        assert header.base_offset <= record.offset <= header.last_offset


def _verified_batches(data: bytes) -> None:
    for pos, header in iter_batches(data):
        for _ in iter_records(data, pos, header, MAX_RECORDS_BYTES):
            pass


def _coordinator_record(serde: coordinator_records.RecordSerde, data: bytes) -> None:
    """The first byte says how long the key is, or that there is no value."""
    if not data:
        return
    size, rest = data[0] & 0x7F, data[1:]
    serde.decode(rest[:size], rest[size:] if data[0] < 0x80 else None)


def _accepted_or_refused(target: Target, data: bytes) -> None:
    with suppress(DecodeError):
        target(data)


def _header(data: bytes) -> None:
    _, end = decode_request_header(data)
    assert end <= len(data)


_SERDES = {name: serde for name, serde in vars(coordinator_records).items() if name.endswith("_SERDE")}
_MESSAGES = {
    f"{message.__name__} v{version}": (message, version) for message in all_messages() for version in message.kafka.versions
}
TARGETS: Final[dict[str, Target]] = {
    "frames": _frames,
    "batches": _batches,
    "verified batches": _verified_batches,
    "request header": _header,
    **{name: partial(_coordinator_record, serde) for name, serde in _SERDES.items()},
    **{name: partial(_message, message, version) for name, (message, version) in _MESSAGES.items()},
}
_ALL: Final = [partial(_accepted_or_refused, target) for target in TARGETS.values()]
_BY_NAME: Final = {int.from_bytes(selector(name), "big"): target for name, target in zip(TARGETS, _ALL, strict=True)}


def _default(name: str) -> bytes:
    if name not in _MESSAGES:
        return b""
    message, version = _MESSAGES[name]
    return encode(message(), version)


def _small_batch() -> bytes:
    builder = BatchBuilder(5, 1_700_000_000_000)
    builder.append(b"key", b"value", encode_headers([("header", b"x")]))
    builder.append(None, None)
    return builder.finish()


_SEEDS: Final[dict[str, Callable[[], bytes]]] = {
    "frames": lambda: b"\x02\0\0\0\x03abc\0\0\0\0\0\0\0\x01x",
    "batches": _small_batch,
    "verified batches": _small_batch,
    "request header": lambda: b"\0\x12\0\x03\0\0\0\x01\0\x02me\0",
    "GROUP_SERDE": lambda: b"\x0c\0\x01\0\x01g\0\x01t\0\0\0\0\x00\x03" + bytes(22),
}
