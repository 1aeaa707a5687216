"""Frames: the units of a connection's byte stream, each with one message.

A frame is an int32 length and that many bytes: a header, whose version depends on the API's version, and a message.
"""

from __future__ import annotations

from struct import Struct as Layout
from typing import Final

from protocol.api import APIS
from protocol.codec import decoder, encoder
from protocol.errors import DecodeError, Malformed, Truncated
from protocol.fields import Message
from protocol.messages.headers import RequestHeader, ResponseHeader

_INT32 = Layout(">i")
_FIXED_HEADER = Layout(">hhi")  # the start of a request: API key, version, correlation id
_LENGTH_SIZE: Final = 4
# How a handshake and an alert of TLS begin, read as a length: their content type, and 3, the major version.
_TLS_LENGTHS: Final = (0x1603, 0x1503)


class FrameSplitter:
    """Splits a stream, received in any pieces, into frames. The work is linear in the number of bytes.

    A frame is copied once out of the pieces that were collected, so at most twice its size is in memory.
    """

    __slots__ = ("_partial", "_wanted", "held", "max_frame_bytes")

    def __init__(self, max_frame_bytes: int) -> None:
        self.held = 0
        """The number of bytes received of a frame that is not complete."""
        self.max_frame_bytes = max_frame_bytes
        self._partial = bytearray()
        # The size of the frame of which ``_partial`` is the beginning, with its length; 0 while that is not known.
        self._wanted = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the frames that ``data`` completes, without their lengths. Raises Malformed for a length out of bounds."""
        if not self.held:
            if len(data) > _LENGTH_SIZE and _INT32.unpack_from(data)[0] == len(data) - _LENGTH_SIZE <= self.max_frame_bytes:
                # The common case: exactly one frame.
                return [data[_LENGTH_SIZE:]]
            frames: list[bytes] = []
        else:
            frames = []
            partial = self._partial
            partial += data
            if len(partial) < self._wanted:
                self.held = len(partial)
                return frames
            if self._wanted:
                with memoryview(partial) as view:
                    frames.append(bytes(view[_LENGTH_SIZE : self._wanted]))
            data = bytes(partial[self._wanted :])
            self._partial = bytearray()
        self._split(data, frames)
        return frames

    def clear(self) -> None:
        """Forget what was received of an incomplete frame."""
        self.held = self._wanted = 0
        self._partial = bytearray()

    def _split(self, data: bytes, frames: list[bytes]) -> None:
        """Append the complete frames in ``data``, and keep the rest."""
        pos, end = 0, len(data)
        self._wanted = 0
        while end - pos >= _LENGTH_SIZE:
            (size,) = _INT32.unpack_from(data, pos)
            if not 0 <= size <= self.max_frame_bytes:
                raise Malformed(_out_of_bounds(size, self.max_frame_bytes))
            start = pos + _LENGTH_SIZE
            if start + size > end:
                self._wanted = _LENGTH_SIZE + size
                break
            pos = start + size
            frames.append(data[start:pos])
        self.held = end - pos
        if self.held:
            self._partial += data[pos:]


def _out_of_bounds(size: int, max_frame_bytes: int) -> str:
    if size >> 16 in _TLS_LENGTHS:
        return (
            "the bytes are TLS: does one side use TLS, and the other not? Look at security.protocol of the client and at the "
            "listener"
        )
    return f"a frame of {size} bytes, 0 to {max_frame_bytes} are allowed"


_REQUEST_HEADERS = {version: decoder(RequestHeader, version) for version in RequestHeader.kafka.versions}
# By the first four bytes of a frame (API key and version), for all served APIs.
_DECODE_HEADER = {
    _FIXED_HEADER.pack(api.key, version, 0)[:4]: _REQUEST_HEADERS[api.request_header_version(version)]
    for api in APIS.values()
    for version in api.versions
}


def decode_request_header(frame: bytes) -> tuple[RequestHeader, int]:
    """Return the header of a request and the position after it. For an unserved request, return the fields that can be read."""
    decode = _DECODE_HEADER.get(frame[:4])
    return decode(frame, 0) if decode is not None else _decode_unserved_header(frame)


def _decode_unserved_header(frame: bytes) -> tuple[RequestHeader, int]:
    if len(frame) < _FIXED_HEADER.size:
        raise Truncated("the bytes end too early", message="RequestHeader", position=len(frame))
    key, version, correlation_id = _FIXED_HEADER.unpack_from(frame)
    api = APIS.get(key)
    try:
        return _REQUEST_HEADERS[api.request_header_version(version) if api else 1](frame, 0)
    except DecodeError:
        return RequestHeader(key, version, correlation_id, None), _FIXED_HEADER.size


def encode_request(api_key: int, version: int, correlation_id: int, client_id: str | None, message: Message) -> bytes:
    """Return a whole frame, including its length."""
    out = bytearray(_LENGTH_SIZE)
    header_version = APIS[api_key].request_header_version(version)
    encoder(RequestHeader, header_version)(RequestHeader(api_key, version, correlation_id, client_id), out)
    encoder(type(message), version)(message, out)
    _INT32.pack_into(out, 0, len(out) - _LENGTH_SIZE)
    return bytes(out)


def encode_response(api_key: int, version: int, correlation_id: int, message: Message) -> bytes:
    """Return a whole frame, including its length."""
    out = bytearray(_LENGTH_SIZE)
    header_version = APIS[api_key].response_header_version(version)
    encoder(ResponseHeader, header_version)(ResponseHeader(correlation_id), out)
    encoder(type(message), version)(message, out)
    _INT32.pack_into(out, 0, len(out) - _LENGTH_SIZE)
    return bytes(out)


def decode_response(api_key: int, version: int, frame: bytes) -> tuple[int, Message]:
    """Return the correlation id and the message of a response frame. The arguments identify the API and version of its request."""
    api = APIS[api_key]
    header, pos = decoder(ResponseHeader, api.response_header_version(version))(frame, 0)
    message, _ = decoder(api.response, version)(frame, pos)
    return header.correlation_id, message
