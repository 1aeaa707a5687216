"""What compiled code has in place of ``struct`` reads the same; interpreted code never calls it, so it is called here."""

from __future__ import annotations

import struct
from random import Random
from typing import Any

import pytest

from protocol.generate.__main__ import GENERATED
from protocol.native import int8, int16, int32, int64

EDGES = [bytes(8), b"\xff" * 8, b"\x7f" + b"\xff" * 7, b"\x80" + bytes(7), b"\x00\x80" * 4, b"\x01\x02\x03\x04\x85\x86\x87\x88"]


@pytest.mark.parametrize("data", EDGES)
def test_integers_are_big_endian_and_signed(data: bytes) -> None:
    """At their edges, and behind other bytes."""
    assert int8(data[0]) == struct.unpack_from(">b", data)[0]
    for read, layout in ((int16, ">h"), (int32, ">i"), (int64, ">q")):
        assert read(b"head" + data, 4) == struct.unpack_from(layout, data)[0]


def test_every_layout_reads_what_struct_reads() -> None:
    """And refuses what is too short."""
    text = (GENERATED / "layouts.py").read_text()
    functions, marker, table = text.partition("if not COMPILED:")
    assert marker
    names: dict[str, Any] = {}
    exec(functions, names)
    found: dict[str, dict[str, str]] = {}
    exec(table.replace("    ", "").partition("globals()")[0], {}, found)
    layouts = found["_LAYOUTS"]
    random = Random(7)

    assert len(layouts) > 50
    for name, layout in layouts.items():
        size = struct.calcsize(layout)
        for _ in range(20):
            data = random.randbytes(size + 6)
            assert names[name](data, 3) == struct.unpack_from(layout, data, 3)
        with pytest.raises(IndexError):
            names[name](bytes(size + 2), 3)
