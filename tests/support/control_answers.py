"""A control socket that gives the answers of a test."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def answering(data_dir: Path, *answers: bytes) -> Iterator[list[bytes]]:
    """A control socket that gives one answer to each connection; what it was asked."""
    asked: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(data_dir / "control.sock"))
        server.listen()

        def serve() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with connection, connection.makefile("rb") as lines:
                    asked.append(lines.readline())
                    connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield asked
        thread.join()
