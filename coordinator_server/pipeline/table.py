"""A table that is one Parquet file, replaced as a whole."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from coordinator_server.pipeline.errors import PipelineError

_PRIVATE: Final = 0o077


def write_table(rows: Sequence[Struct], kind: type[Struct], file: Path, times: Mapping[str, str]) -> None:
    """Write rows of one kind, whose fields are texts and whole numbers, and make the directory if it is missing.

    ``times`` are the fields in ms since 1970, with the names of their columns. Raises PipelineError.
    """
    columns = {
        times.get(name, name): pa.array([getattr(row, name) for row in rows], _type_of(kind, name, times))
        for name in kind.__struct_fields__
    }
    attempt = file.with_name(f".{file.name}.{os.getpid()}")
    # The table says who did what, as the log does.
    before = os.umask(_PRIVATE)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), attempt, compression="zstd")
        attempt.replace(file)
    except OSError as error:
        raise PipelineError(f"cannot write {file}: {error}") from error
    finally:
        os.umask(before)
        attempt.unlink(missing_ok=True)


def _type_of(kind: type[Struct], name: str, times: Mapping[str, str]) -> pa.DataType:
    if name in times:
        return pa.timestamp("ms", "UTC")
    return pa.int64() if str(kind.__annotations__[name]).startswith("int") else pa.string()
