"""``python -m protocol decode|encode``."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from protocol.__main__ import main
from protocol.frames import encode_request, encode_response
from protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from protocol.messages.heartbeat import HeartbeatRequest, HeartbeatResponse

HEARTBEAT = {"groupId": "g", "generationId": 1, "memberId": "m", "groupInstanceId": None}
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAA"
DECODED = {"message": "HeartbeatRequest", "version": 4, "json": HEARTBEAT}
ENCODED = {"message": "HeartbeatRequest", "version": 4, "hex": "026700000001026d0000"}


def test_decode_and_encode_are_each_others_opposite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Line by line; empty lines count for nothing."""
    assert _run(tmp_path, ["decode"], ENCODED, "", ENCODED) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [DECODED, DECODED]
    assert _run(tmp_path, ["encode"], DECODED) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [ENCODED]


def test_lines_come_from_stdin_where_no_file_is_named() -> None:
    """As a real command."""
    done = subprocess.run(
        [sys.executable, "-m", "protocol", "decode"],
        input=json.dumps(ENCODED).encode(),
        capture_output=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, json.loads(done.stdout)) == (0, DECODED)


@pytest.mark.parametrize(
    ("command", "line", "error"),
    [
        ("decode", "no json", "Expecting value: line 1 column 1 (char 0)"),
        ("decode", [1], "is not a JSON object"),
        ("decode", {"version": 4}, "message: is missing"),
        ("decode", ENCODED | {"version": "4"}, "version: is not what it should be"),
        ("decode", ENCODED | {"version": True}, "version: is not what it should be"),
        (
            "decode",
            ENCODED | {"message": "HeartbeatReqest"},
            "message: there is no HeartbeatReqest; did you mean HeartbeatRequest or",
        ),
        ("decode", ENCODED | {"version": 5}, "version: HeartbeatRequest has 0-4, not 5"),
        ("decode", ENCODED | {"hex": "0g"}, "hex: non-hexadecimal number"),
        ("decode", ENCODED | {"hex": "0267"}, "HeartbeatRequest v4 generation_id: the bytes end too early at byte 2"),
        ("encode", DECODED | {"json": {}}, "json.groupId: is missing: v4 has it"),
        (
            "encode",
            DECODED | {"json": HEARTBEAT | {"mood": 1}},
            "json.mood: HeartbeatRequest v4 has no such field; it has groupId,",
        ),
        ("encode", DECODED | {"json": HEARTBEAT | {"groupId": 7}}, "json.groupId: 7 is no string"),
        ("encode", DECODED | {"json": HEARTBEAT | {"groupId": None}}, "json.groupId: null is not allowed"),
        ("encode", DECODED | {"json": HEARTBEAT | {"generationId": True}}, "json.generationId: True is no int32"),
        ("encode", DECODED | {"json": HEARTBEAT | {"generationId": 2**40}}, "HeartbeatRequest v4: "),
    ],
)
def test_a_bad_input_line_is_reported_and_the_others_are_decoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, line: Any, error: str
) -> None:
    """By its number, on stderr; the exit code is 1."""
    good = ENCODED if command == "decode" else DECODED

    assert _run(tmp_path, [command], good, line, good) == 1
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert printed.err.startswith(f"line 2: {error}")


@pytest.mark.parametrize(
    ("node", "error"),
    [
        ({"topics": 3}, "json.topics: a JSON array is wanted here, not 3"),
        (
            {"topics": [{"topicId": TOPIC_ID, "partitions": [{"partitionIndex": "x"}]}]},
            "json.topics[0].partitions[0].partitionIndex: 'x' is no int32",
        ),
        (
            {"topics": [{"topicId": TOPIC_ID, "partitions": [[]]}]},
            "json.topics[0].partitions[0]: a JSON object is wanted here, not []",
        ),
        ({"topics": [{"topicId": "AAAA"}]}, "json.topics[0].topicId: 'AAAA' is no uuid"),
    ],
)
def test_bad_json_is_named_by_its_path(tmp_path: Path, capsys: pytest.CaptureFixture[str], node: Any, error: str) -> None:
    """Through objects and arrays."""
    blank = {"groupId": "", "generationIdOrMemberEpoch": 0, "memberId": "", "groupInstanceId": None, "topics": []}

    assert _run(tmp_path, ["encode"], {"message": "OffsetCommitRequest", "version": 10, "json": blank | node}) == 1
    assert capsys.readouterr().err == f"line 1: {error}\n"


def test_frames_are_explained_with_their_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Requests by their own headers, answers by the requests."""
    sent, received = tmp_path / "sent", tmp_path / "received"
    first = encode_request(18, 3, 7, "me", ApiVersionsRequest("lib", "1"))
    sent.write_bytes(first + encode_request(12, 4, 8, None, HeartbeatRequest("g", 1, "m")))
    received.write_bytes(encode_response(18, 3, 7, ApiVersionsResponse()) + encode_response(12, 4, 8, HeartbeatResponse(0, 27)))

    assert main(["decode", "--frames", str(sent), "--answers", str(received)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    header = {"requestApiKey": 12, "requestApiVersion": 4, "correlationId": 8, "clientId": None}
    assert [(line["at"], line["message"]) for line in lines] == [
        (0, "ApiVersionsRequest"),
        (len(first), "HeartbeatRequest"),
        (0, "ApiVersionsResponse"),
        (lines[2]["size"] + 4, "HeartbeatResponse"),
    ]
    assert (lines[1]["header"], lines[1]["version"], lines[1]["json"]) == (header, 4, HEARTBEAT)
    assert (lines[3]["header"], lines[3]["json"]) == ({"correlationId": 8}, {"throttleTimeMs": 0, "errorCode": 27})


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (b"\0\x63\0\0\0\0\0\1\0\0", "API key 99 is unknown"),
        (b"\0\x0c\0\x63\0\0\0\1\0\0", "Heartbeat has versions 0-4, not 99"),
        (b"\0\x0c\0\x04\0\0", "RequestHeader v2 correlation_id: the bytes end too early at byte 4"),
        (b"\0\x0c\0\0\0\0\0\1\0\0\0\1g", "HeartbeatRequest v0 generation_id: the bytes end too early at byte 3 of the message"),
        (b"\0\x0c", "2 bytes are too few for a request"),
    ],
)
def test_a_frame_that_says_nothing_stands_among_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], frame: bytes, error: str
) -> None:
    """With its bytes, and what is wrong with them."""
    good = encode_request(12, 4, 8, None, HeartbeatRequest("g", 1, "m"))
    path = tmp_path / "sent"
    path.write_bytes(good + len(frame).to_bytes(4, "big") + frame + good)

    assert main(["decode", "--frames", str(path)]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.get("message") for line in (lines[0], lines[2])] == ["HeartbeatRequest"] * 2
    assert lines[1]["error"].startswith(error)
    assert bytes.fromhex(lines[1]["hex"]) == frame


def test_what_is_left_of_a_capture_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A capture may end anywhere, and an answer may lack its request."""
    sent, received = tmp_path / "sent", tmp_path / "received"
    good = encode_request(12, 4, 8, None, HeartbeatRequest("g", 1, "m"))
    sent.write_bytes(good + good[:9])
    received.write_bytes(encode_response(12, 4, 99, HeartbeatResponse()))

    assert main(["decode", "--frames", str(sent), "--answers", str(received)]) == 1
    errors = [json.loads(line).get("error") for line in capsys.readouterr().out.splitlines()]
    assert errors == [
        None,
        f"9 bytes are left that are no frame of {len(good) - 4}",
        "no request has this correlation id",
    ]


def test_a_negative_size_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As the number that it is, and the bytes behind it are shown."""
    sent = tmp_path / "sent"
    sent.write_bytes(b"\xff\xff\xff\xfeab")

    assert main(["decode", "--frames", str(sent)]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "at": 0,
        "error": "6 bytes are left that are no frame of -2",
        "hex": "fffffffe6162",
    }


def test_decode_of_a_missing_file_has_its_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Is told, with another exit code."""
    assert main(["decode", str(tmp_path / "none")]) == 2
    assert "none" in capsys.readouterr().err


def _run(tmp_path: Path, arguments: list[str], *lines: Any) -> int:
    path = tmp_path / "lines"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return main([*arguments, str(path)])
