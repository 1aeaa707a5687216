"""Questions to a running server through its control socket."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def ask_control(data_dir: Path, **request: object) -> Any:
    """One question and its answer."""
    return json.loads(ask_control_raw(data_dir, **request))


def ask_control_raw(data_dir: Path, **request: object) -> bytes:
    """One question and the line of its answer."""
    return ask_line(data_dir, request)


def ask_line(data_dir: Path, request: Mapping[str, object], timeout_s: float = 30) -> bytes:
    """The same for a request as a mapping."""
    directory = os.open(data_dir, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.connect(f"/proc/self/fd/{directory}/control.sock")
            connection.sendall(json.dumps(request).encode() + b"\n")
            with connection.makefile("rb") as lines:
                return lines.readline()
    finally:
        os.close(directory)
