"""Asks ``control.sock``, with a limit of time for each question."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from coordinator_server.log.jobs import CONTROL_SOCKET

MAX_ANSWER_BYTES: Final = 64 << 20


class NoAnswer(Exception):
    """The server does not listen yet or any more, does not answer in time, or refuses. The message says which."""


def ask(data_dir: Path, operation: str, within_s: float) -> Mapping[str, Any]:
    """Return the server's answer. Raises NoAnswer."""
    try:
        answer: dict[str, Any] = msgspec.json.decode(_exchanged(data_dir, operation, within_s))
    except TimeoutError:
        raise NoAnswer(f"no answer within {within_s:.0f} s") from None
    except FileNotFoundError:
        raise NoAnswer("the server is starting or stopping") from None
    except ConnectionError:
        raise NoAnswer("the server is starting or stopping") from None
    except (OSError, msgspec.DecodeError) as failure:
        raise NoAnswer(str(failure)) from None
    if not answer.get("ok"):
        raise NoAnswer(str(answer.get("error")))
    return answer


def _exchanged(data_dir: Path, operation: str, within_s: float) -> bytes:
    # The path of a Unix socket has about 100 bytes at most; that of the directory may be longer.
    directory = os.open(data_dir, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(within_s)
            connection.connect(f"/proc/self/fd/{directory}/{CONTROL_SOCKET}")
            connection.sendall(msgspec.json.encode({"op": operation}) + b"\n")
            with connection.makefile("rb") as answers:
                line = answers.readline(MAX_ANSWER_BYTES)
    finally:
        os.close(directory)
    if not line.endswith(b"\n"):
        raise ConnectionResetError("the server ended while it answered")
    return line
