"""Files beside the log that are appended to, one a day: ``NAME/date=2026-11-24/FILE``, lines of JSON, which Spark reads, too.

Nothing in them is synced: after a crash the newest lines may be missing. A torn one is a line that no reader can decode.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

import msgspec

_DATE: Final = "date="
_DAY: Final = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
DAY_MS: Final = 86_400_000

T = TypeVar("T")


def day_of(at_ms: int) -> str:
    """Return the day of a moment, in UTC: ``2026-11-24``."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()


def day_ms(day: str) -> int:
    """Return when a day begins, in ms."""
    return round(datetime.fromisoformat(f"{day}T00:00:00+00:00").timestamp() * 1000)


def begin_of_day_ms(at_ms: int) -> int:
    """Return when the day of a moment begins, in UTC."""
    return max(0, at_ms) // DAY_MS * DAY_MS


def day_files(directory: Path, file: str) -> list[tuple[str, Path]]:
    """Return the days of which a directory has files whose names match ``file``, each with its file, in order."""
    found = sorted(directory.glob(f"{_DATE}{_DAY}/{file}"))
    return [(path.parent.name.removeprefix(_DATE), path) for path in found]


def append_lines(directory: Path, day: str, file: str, data: bytes) -> None:
    """Append whole lines to the file of a day. Raises OSError."""
    path = directory / f"{_DATE}{day}" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as lines:
        end = lines.seek(0, 2)
        if end:
            lines.seek(end - 1)
            data = data if lines.read(1) == b"\n" else b"\n" + data
        lines.write(data)


def lines_in(path: Path, line: type[T], start: int = 0) -> Iterator[tuple[T, int]]:
    """Return the lines of a file from a position on, each with the position after it: those that are whole and can be read."""
    with path.open("rb") as lines:
        lines.seek(start)
        for data in lines:
            start += len(data)
            if not data.endswith(b"\n"):
                return
            try:
                yield msgspec.json.decode(data, type=line), start
            except msgspec.DecodeError:
                continue


def remove_old(directory: Path, file: str, now_ms: int, keep_days: int) -> None:
    """Remove the files of days that are over for longer than ``keep_days``. Raises OSError."""
    first_ms = begin_of_day_ms(now_ms) - keep_days * DAY_MS
    for day, path in day_files(directory, file):
        if day_ms(day) < first_ms:
            path.unlink(missing_ok=True)
            # Something else may be there.
            with suppress(OSError):
                path.parent.rmdir()
