"""Asks whether a standalone Spark master answers. Spark itself tries a dead one for more than a minute before it says so."""

from __future__ import annotations

import socket
from typing import Final

from coordinator_server.pipeline.errors import CannotRun

ANSWER_S: Final = 3.0
_SCHEME: Final = "spark://"


def check_master(master: str) -> None:
    """Connect to a standalone master, or to one of several (``spark://a:7077,b:7077``). Raises CannotRun if none accepts.

    Masters of other kinds, and names that Spark does not understand, are left to Spark.
    """
    if not master.startswith(_SCHEME):
        return
    failures = []
    for each in master.removeprefix(_SCHEME).split(","):
        host, _, port = each.rpartition(":")
        if not host or not port.isdecimal() or int(port) > 65_535:
            return
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER_S).close()
        except OSError as error:
            failures.append(f"{each} ({error.strerror or error})")
        else:
            return
    raise CannotRun(
        f"no Spark master answers at {', '.join(failures)}: check that it runs, and --master against the URL on its page;"
        " or use --engine python"
    )
