"""What commands print. Ids, names and metadata come from clients: no terminal gets a control code of theirs."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import msgspec

from protocol.printable import printable, printable_json


def say(lines: Iterable[str]) -> None:
    """Print lines on stdout."""
    sys.stdout.writelines(f"{printable(line)}\n" for line in lines)


def say_json(value: object) -> None:
    """Print one line of JSON on stdout."""
    sys.stdout.write(f"{printable_json(msgspec.json.encode(value).decode())}\n")


def note(text: object) -> None:
    """Print one line of this program's on stderr."""
    sys.stderr.write(f"coordinator-server: {printable(str(text))}\n")


def complain(why: Exception, code: int) -> int:
    """Print the reason of a failure on stderr, and return the exit code."""
    note(why)
    return code
