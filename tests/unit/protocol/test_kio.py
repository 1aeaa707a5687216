"""A third implementation, kio, where it knows a message: it reads what Kafka and we write, and writes the same."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import kio
from kio.serial import entity_reader, entity_writer
from kio.serial.errors import OutOfBoundValue

from protocol.codec import encode
from protocol.fields import Kind
from protocol.json_form import from_json
from protocol.schema import snake_case
from tests.support.batches import in_batches
from tests.support.golden import vectors
from tests.support.protocol_values import EVERY_VERSION, MESSAGES

FILLS = ("default", "full", "empty", "null", "random")
SAMPLE = 40
# kio has types of its own for these, and refuses what they cannot hold: error codes that Kafka does not use, times out of bounds.
OUT_OF_BOUNDS = re.compile("is not a valid ErrorCode|negative timestamp|timedelta|overflow|out of range")


def _place(name: str, version: int) -> str:
    kind = MESSAGES[name].kafka.kind
    stem = name if kind in (Kind.HEADER, Kind.DATA) else name.removesuffix("Request").removesuffix("Response")
    return f"kio.schema.{snake_case(stem)}.v{version}.{kind.value}"


def _known() -> Iterator[tuple[str, int]]:
    """Looked up by file: to ask for a module is to import its packages, which are a thousand."""
    above = Path(kio.__file__).parents[1]
    for name, version in EVERY_VERSION:
        if above.joinpath(*_place(name, version).split(".")).with_suffix(".py").exists():
            yield name, version


KNOWN = list(_known())


@in_batches("name, version", KNOWN)
def test_kio_reads_and_writes_the_same_bytes(name: str, version: int) -> None:
    """Of every value that fits into its types."""
    entity = getattr(import_module(_place(name, version)), name)
    mine = [vector for vector in vectors()[name] if vector["version"] == version and vector["fill"] in FILLS]
    read = 0

    for vector in mine[:SAMPLE]:
        data = encode(from_json(MESSAGES[name], version, vector["json"]), version)
        again = _through_kio(entity, data)
        assert again in (data, None), vector
        read += again is not None

    assert read >= len(FILLS) - 1


def test_kio_knows_the_apis() -> None:
    """Nearly all requests and responses; records are not its business."""
    assert len({name for name, _ in KNOWN}) > 90


def _through_kio(entity: Any, data: bytes) -> bytes | None:
    try:
        value, _ = entity_reader(entity)(data, 0)
    except (ValueError, OutOfBoundValue) as error:
        if not OUT_OF_BOUNDS.search(str(error)):
            raise
        return None
    out = io.BytesIO()
    entity_writer(entity)(out, value)
    return out.getvalue()
