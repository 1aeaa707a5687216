"""Files of committed offsets: what ``groups export`` writes and ``groups import`` reads, and the CSV of Kafka's tool.

group,topic,partition,offset,leader_epoch,metadata    CSV with a heading: any of these columns, in any order
{"group": …, "topic": …, …}                           JSON: an array, or one object per line
topic,partition,offset                                Kafka's CSV without a heading, of one group
group,topic,partition,offset                          and of several
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from coordinator_server.client.offsets import Committed, TopicPartition
from coordinator_server.config import ConfigError

Offsets = dict[str, dict[TopicPartition, Committed]]
"""Committed offsets by group and partition."""

_ROW: Final = msgspec.json.Decoder(dict[str, Any])
_ARRAY: Final = msgspec.json.Decoder(list[dict[str, Any]])
_COLUMNS: Final = ("group", "topic", "partition", "offset", "leader_epoch", "metadata")
_KAFKA: Final = {3: _COLUMNS[1:4], 4: _COLUMNS[:4]}
_NUMBERS: Final = {"partition": (0, 1 << 31), "offset": (0, 1 << 63), "leader_epoch": (-1, 1 << 31)}


def read_offsets(path: Path, group: str | None) -> Offsets:
    """Read a file. ``group`` is the group of rows that name none. Raises ConfigError, with file and row."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    found: Offsets = {}
    for number, row in enumerate(_rows(path, text), 1):
        try:
            group_id, at, committed = _read(row, group)
        except ValueError as wrong:
            raise ConfigError(f"{path}, row {number}: {wrong}") from None
        found.setdefault(group_id, {})[at] = committed
    return found


def _rows(path: Path, text: str) -> Sequence[Mapping[str, Any]]:
    start = text.lstrip()[:1]
    try:
        if start == "[":
            return _ARRAY.decode(text)
        if start == "{":
            return _ROW.decode_lines(text)
    except msgspec.MsgspecError as error:
        raise ConfigError(f"{path} is not JSON as 'groups export' writes it: {error}") from None
    lines = [line for line in csv.reader(text.splitlines()) if line]
    if not lines:
        return []
    if "topic" in lines[0] and "offset" in lines[0]:
        names, lines = tuple(lines[0]), lines[1:]
    else:
        names = _KAFKA.get(len(lines[0]), ())
    return [dict(zip(names, line, strict=False)) for line in lines]


def _read(row: Mapping[str, Any], group: str | None) -> tuple[str, TopicPartition, Committed]:
    group_id = row.get("group") or group
    if not group_id:
        raise ValueError("it names no group: --group GROUP gives it one")
    missing = [name for name in ("topic", "partition", "offset") if row.get(name) in {None, ""}]
    if missing:
        raise ValueError(f"it has no {missing[0]}")
    epoch = _number(row, "leader_epoch") if row.get("leader_epoch") not in {None, ""} else -1
    at = TopicPartition(str(row["topic"]), _number(row, "partition"))
    return str(group_id), at, Committed(_number(row, "offset"), str(row.get("metadata") or ""), epoch)


def _number(row: Mapping[str, Any], name: str) -> int:
    low, end = _NUMBERS[name]
    try:
        value = int(row[name])
    except (TypeError, ValueError):
        value = low - 1
    if not low <= value < end:
        raise ValueError(f"{name} is {row[name]!r}, not a number from {low}")
    return value
