"""The format of an index stands for the structs that it holds, too."""

from __future__ import annotations

from zlib import crc32

import msgspec

from coordinator_server.pipeline.index.chunk import Start
from coordinator_server.pipeline.index.database import FORMAT
from coordinator_server.pipeline.index.tables.group_writes import OpenWrites
from coordinator_server.pipeline.index.tables.share_partitions import Kept
from coordinator_server.pipeline.lag.lags import Change
from coordinator_server.pipeline.lag.verdicts import Made
from coordinator_server.pipeline.replay.group_events import Event, RunState
from coordinator_server.pipeline.replay.group_owners import Ownership
from coordinator_server.pipeline.replay.memberships import MembersState
from coordinator_server.transaction.transaction import Transaction

SHAPES = {1: 2261517225, 2: 1051113083, 3: 1051113083, 4: 3730229320, 5: 1317297745, 6: 743521301, 7: 743521301}
"""The shape of the structs by format: never change an entry, add one."""
STORED = (Start, Event, RunState, Ownership, MembersState, Transaction, OpenWrites, Change, Made, Kept)


def shape_of(kind: type, seen: set[str]) -> list[str]:
    """Each struct with its fields and their types, as they are written."""
    found = []
    for each in msgspec.inspect.multi_type_info([kind]):
        found += _lines(each, seen)
    return found


def _lines(kind: object, seen: set[str]) -> list[str]:
    if isinstance(kind, msgspec.inspect.StructType | msgspec.inspect.NamedTupleType):
        name = kind.cls.__qualname__
        if name in seen:
            return []
        seen.add(name)
        fields = [f"{name}.{field.encode_name}: {kind.cls.__annotations__[field.name]}" for field in kind.fields]
        return [*fields, *(line for field in kind.fields for line in _lines(field.type, seen))]
    parts = [getattr(kind, name, None) for name in ("item_type", "item_types", "key_type", "value_type", "types", "fields")]
    flat = [each for part in parts if part for each in (part if isinstance(part, tuple) else (part,))]
    return [line for each in flat for line in _lines(getattr(each, "type", each), seen)]


def test_a_new_shape_is_a_new_format() -> None:
    """Otherwise an index of before would be read wrong, or not at all. Raise FORMAT, and add its shape here."""
    lines = [line for kind in STORED for line in shape_of(kind, set())]

    assert {"MemberChanges.member_id: str", "WaitsState.held: dict[str, set[tuple[bytes, int]]]"} <= set(lines)
    assert SHAPES[FORMAT] == crc32("\n".join(lines).encode())
