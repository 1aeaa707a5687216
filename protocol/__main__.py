"""``python -m protocol decode|encode``: converts messages between bytes and JSON, for people.

Both read one JSON object per line and write the converted one. ``decode --frames`` reads the captured bytes of a connection
instead and describes every frame. Answers are decoded by means of their requests.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from protocol.api import Api, known_apis
from protocol.codec import decode, encode
from protocol.errors import BadJson, DecodeError, ProtocolError
from protocol.fields import Message
from protocol.json_form import from_json, to_json
from protocol.messages.headers import RequestHeader, ResponseHeader
from protocol.printable import printable, printable_json
from protocol.schema import all_messages

Line = dict[str, Any]
_LENGTH: Final = 4


class BadLine(ProtocolError):
    """The error that a line of input is invalid."""


def main(arguments: list[str] | None = None) -> int:
    options = _parse(arguments)
    try:
        if options.command == "encode":
            lines = _each(_text(options.file), encode_line)
        elif options.frames:
            lines = explain_requests(_bytes(options.file))
            if options.answers is not None:
                lines = explain_answers(list(lines), _bytes(options.answers))
        else:
            lines = _each(_text(options.file), decode_line)
        return _write(lines)
    except (OSError, UnicodeDecodeError) as error:
        sys.stderr.write(f"{printable(str(error))}\n")
        return 2


def decode_line(line: Line) -> Line:
    """Convert ``hex`` to ``json``."""
    message, version = _message(line)
    try:
        data = bytes.fromhex(_wanted(line, "hex", str))
    except ValueError as error:
        raise BadLine(f"hex: {error}") from None
    return {"message": message.__name__, "version": version, "json": to_json(decode(message, version, data), version)}


def encode_line(line: Line) -> Line:
    """Convert ``json`` to ``hex``."""
    message, version = _message(line)
    value = from_json(message, version, _wanted(line, "json", dict))
    return {"message": message.__name__, "version": version, "hex": encode(value, version).hex()}


def explain_requests(data: bytes) -> Iterator[Line]:
    """Yield a description of each frame that a client sent."""
    for at, frame in _frames(data):
        yield {"at": at, "size": len(frame)} | _described(_request, frame)
    yield from _rest(data)


def explain_answers(requests: list[Line], data: bytes) -> Iterator[Line]:
    """Yield the requests, then a description of each frame that the server sent, decoded by the request it answers."""
    yield from requests
    asked = {line["header"]["correlationId"]: line["header"] for line in requests if "header" in line}
    for at, frame in _frames(data):
        yield {"at": at, "size": len(frame)} | _described(lambda frame: _response(frame, asked), frame)
    yield from _rest(data)


def _request(frame: bytes) -> Line:
    if len(frame) < 4:
        raise BadLine(f"{len(frame)} bytes are too few for a request")
    key, version = int.from_bytes(frame[:2], "big", signed=True), int.from_bytes(frame[2:4], "big", signed=True)
    api = _api(key, version)
    return _explained(frame, RequestHeader, api.request_header_version(version), api.request, version)


def _response(frame: bytes, asked: dict[int, Line]) -> Line:
    header = asked.get(int.from_bytes(frame[:4], "big", signed=True))
    if header is None:
        raise BadLine("no request has this correlation id")
    version = header["requestApiVersion"]
    api = _api(header["requestApiKey"], version)
    return _explained(frame, ResponseHeader, api.response_header_version(version), api.response, version)


def _explained(frame: bytes, header: type[Message], header_version: int, message: type[Message], version: int) -> Line:
    head = decode(header, header_version, frame, allow_leftover=True)
    described = {"header": to_json(head, header_version), "message": message.__name__, "version": version}
    try:
        body = decode(message, version, frame[len(encode(head, header_version)) :])
    except DecodeError as error:
        return described | {"error": f"{error} of the message", "hex": frame.hex()}
    return described | {"json": to_json(body, version)}


def _api(key: int, version: int) -> Api:
    api = known_apis().get(key)
    if api is None:
        raise BadLine(f"API key {key} is unknown")
    if version not in api.versions:
        raise BadLine(f"{api.name} has versions {api.min_version}-{api.max_version}, not {version}")
    return api


def _described(explain: Callable[[bytes], Line], frame: bytes) -> Line:
    try:
        return explain(frame)
    except ProtocolError as error:
        return {"error": str(error), "hex": frame.hex()}


def _frames(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the position of each whole frame, and its bytes without the length."""
    at = 0
    while at + _LENGTH <= len(data):
        size = int.from_bytes(data[at : at + _LENGTH], "big", signed=True)
        if size < 0 or at + _LENGTH + size > len(data):
            return
        yield at, data[at + _LENGTH : at + _LENGTH + size]
        at += _LENGTH + size


def _rest(data: bytes) -> Iterator[Line]:
    at = sum(_LENGTH + len(frame) for _, frame in _frames(data))
    if at < len(data):
        size = int.from_bytes(data[at : at + _LENGTH], "big", signed=True)
        yield {"at": at, "error": f"{len(data) - at} bytes are left that are no frame of {size}", "hex": data[at : at + 64].hex()}


def _message(line: Line) -> tuple[type[Message], int]:
    name, version = _wanted(line, "message", str), _wanted(line, "version", int)
    messages = {message.__name__: message for message in all_messages()}
    if name not in messages:
        close = get_close_matches(name, messages, n=3)
        raise BadLine(f"message: there is no {name}" + (f"; did you mean {' or '.join(close)}?" if close else ""))
    versions = messages[name].kafka.versions
    if version not in versions:
        raise BadLine(f"version: {name} has {versions.low}-{versions.high}, not {version}")
    return messages[name], version


def _wanted(line: Line, name: str, kind: type[Any]) -> Any:
    if not isinstance(line.get(name), kind) or isinstance(line[name], bool):
        raise BadLine(f"{name}: {'is missing' if name not in line else 'is not what it should be'}")
    return line[name]


def _each(text: str, convert: Callable[[Line], Line]) -> Iterator[Line]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            parsed = json.loads(line)
            if not isinstance(parsed, dict):
                raise BadLine("is not a JSON object")
            yield convert(parsed)
        except (ProtocolError, ValueError) as error:
            where = "json." if isinstance(error, BadJson) else ""
            yield {"line": number, "error": f"{where}{error}"}


def _write(lines: Iterable[Line]) -> int:
    """Write errors of lines to stderr, and everything else, errors of frames included, to stdout. Return the exit status."""
    status = 0
    for line in lines:
        status = 1 if "error" in line else status
        if "line" in line:
            sys.stderr.write(f"line {line['line']}: {printable(line['error'])}\n")
        else:
            sys.stdout.write(printable_json(json.dumps(line, ensure_ascii=False)) + "\n")
    return status


def _text(file: Path | None) -> str:
    return _bytes(file).decode()


def _bytes(file: Path | None) -> bytes:
    return sys.stdin.buffer.read() if file is None else file.read_bytes()


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m protocol", description="Kafka's messages between bytes and JSON.")
    commands = parser.add_subparsers(dest="command", required=True)
    to = commands.add_parser(
        "decode", help='{"message": "HeartbeatRequest", "version": 4, "hex": "…"} a line, to the same with "json"'
    )
    back = commands.add_parser("encode", help="the other way")
    for command in (to, back):
        command.add_argument("file", type=Path, nargs="?", help="instead of stdin")
    to.add_argument("--frames", action="store_true", help="the input is what a client sent, as raw bytes")
    to.add_argument("--answers", type=Path, metavar="FILE", help="with --frames: what the server sent back")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
