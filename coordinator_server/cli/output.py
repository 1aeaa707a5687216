"""What commands print. Ids, names and metadata come from clients: no terminal gets a control code of theirs."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final

import msgspec

from protocol.printable import printable, printable_json

_VALUES_AT_ONCE: Final = 1_000


class ReaderGone(Exception):
    """The reader of stdout has closed the pipe (| head). It is no OSError, of which commands make failures."""


def say(lines: Iterable[str]) -> None:
    """Print lines on stdout. Raises ReaderGone."""
    with _reader():
        sys.stdout.writelines(f"{printable(line)}\n" for line in lines)


def say_json(value: object) -> None:
    """Print one line of JSON on stdout. Raises ReaderGone."""
    with _reader():
        sys.stdout.write(f"{printable_json(msgspec.json.encode(value).decode())}\n")


def say_json_list(values: Iterable[object]) -> None:
    """Print one line of JSON on stdout, which is a list, without having it as a whole. Raises ReaderGone."""
    left, separator = iter(values), "["
    with _reader():
        while portion := list(islice(left, _VALUES_AT_ONCE)):
            sys.stdout.write(separator + printable_json(msgspec.json.encode(portion).decode())[1:-1])
            separator = ","
        sys.stdout.write("[]\n" if separator == "[" else "]\n")


@contextmanager
def _reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise ReaderGone from None


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, given in the singular: ``1 batch``, ``2,000 batches``."""
    ending = "" if count == 1 else "es" if noun.endswith("ch") else "s"
    return f"{count:,} {noun}{ending}"


def note(text: object) -> None:
    """Print one line of this program's on stderr."""
    sys.stderr.write(f"coordinator-server: {printable(str(text))}\n")


def complain(why: Exception, code: int) -> int:
    """Print the reason of a failure on stderr, and return the exit code."""
    is_full = isinstance(why, OSError) and why.errno in (errno.ENOSPC, errno.EDQUOT)
    note(f"{why}: free some space where this command writes, then run it again" if is_full else why)
    return code
