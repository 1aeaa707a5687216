"""The owners of the shards that have moved between the loops of a log's directory: ``owners.json``.

It is replaced as a whole, after the next owner's journal states the shards and before that owner acts. Without it every shard is
where it is distributed to. It is read when no loop runs. For another number of loops shards are distributed anew, those that have
moved in later epochs, and it is replaced before a loop starts: clients that know a leader epoch never go back to an older one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from coordinator_server.log.errors import DamagedLog, Unavailable
from coordinator_server.log.storage import LOCAL, Storage, read_file, replace_file

NAME: Final = "owners.json"


class MovedShards(Struct, frozen=True, forbid_unknown_fields=True):
    """The loop and the epoch of each moved shard, by its name, in the view of a version."""

    version: int
    loops: int
    owners: dict[str, tuple[int, int]]


def read_owners(data_dir: Path | str, storage: Storage | None = None) -> MovedShards | None:
    """Return what was written last, or None if no shard ever moved. Raises DamagedLog."""
    storage = storage or LOCAL
    path = f"{data_dir}/{NAME}"
    if not storage.exists(path):
        return None
    try:
        return msgspec.json.decode(read_file(storage, path), type=MovedShards)
    except msgspec.MsgspecError as error:
        why = f"{error}: remove the file while no server runs; every shard is then at the loop that it is distributed to"
        raise DamagedLog(path, 0, why) from None


def write_owners(data_dir: Path | str, moved: MovedShards, storage: Storage | None = None) -> None:
    """Make the owners durable. Raises Unavailable; the former owners hold then."""
    try:
        replace_file(storage or LOCAL, f"{data_dir}/{NAME}", msgspec.json.encode(moved) + b"\n")
    except OSError as error:
        raise Unavailable(f"cannot write {data_dir}/{NAME}: {error}") from error
