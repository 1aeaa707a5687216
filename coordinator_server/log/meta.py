"""``meta.properties``: what a data directory is, made once and checked at every start.

Its keys are Kafka's where Kafka has them; ``version`` is the format of this directory. A directory that is still being filled from
elsewhere has version 0 and says what was begun: no server starts on it, of this version or another. The last line is a CRC-32C of the
ones before it, so that a rotten bit is no other cluster; who writes the file by hand leaves it out.
"""

from __future__ import annotations

import base64

from crc32c import crc32c
from msgspec import Struct

from coordinator_server.log.errors import LogError
from coordinator_server.log.storage import Storage, read_file, replace_file

FORMAT = 1
UNFINISHED = 0
NAME = "meta.properties"
# Beside it, in a directory that an import has filled: what was imported.
IMPORTED = "kafka-import.json"
_KEYS = {"version", "cluster.id", "node.id", "offsets.topic.num.partitions"}
_CHECKSUM = "checksum"


class Meta(Struct, frozen=True):
    """The identity of a data directory."""

    cluster_id: str
    node_id: int
    offsets_topic_num_partitions: int


def open_meta(storage: Storage, data_dir: str, *, node_id: int, offsets_topic_num_partitions: int) -> Meta:
    """Read the directory's identity, or give it one. LogError when it is not the one that is asked for."""
    path = f"{data_dir}/{NAME}"
    if not storage.exists(path):
        cluster_id = base64.urlsafe_b64encode(storage.random(16)).decode().rstrip("=")
        meta = Meta(cluster_id, node_id, offsets_topic_num_partitions)
        replace_file(storage, path, _encode(meta))
        return meta
    meta = _decode(path, read_file(storage, path))
    asked = {
        "node.id": (meta.node_id, node_id),
        "offsets.topic.num.partitions": (meta.offsets_topic_num_partitions, offsets_topic_num_partitions),
    }
    for name, (made_with, wanted) in asked.items():
        if made_with != wanted:
            raise LogError(
                f"{data_dir} was made with {name}={made_with}, not {wanted}: start with {name}={made_with}, or another data directory"
            )
    return meta


def begin_meta(storage: Storage, data_dir: str, begun: str) -> None:
    """Say that the directory is being filled by ``begun``, a word or two, until ``write_meta``."""
    replace_file(storage, f"{data_dir}/{NAME}", f"version={UNFINISHED}\nbegun={begun}\n".encode())


def begun_in(storage: Storage, data_dir: str) -> str | None:
    """What was begun in a directory and not finished; None for any other directory."""
    path = f"{data_dir}/{NAME}"
    if not storage.exists(path):
        return None
    try:
        found = _parse(read_file(storage, path))
    except ValueError:
        return None
    return found.get("begun") if found.get("version") == str(UNFINISHED) else None


def read_meta(storage: Storage, data_dir: str) -> Meta:
    """The identity of a directory that has one: for tools that take it as it is."""
    path = f"{data_dir}/{NAME}"
    return _decode(path, read_file(storage, path))


def write_meta(storage: Storage, data_dir: str, meta: Meta) -> None:
    """Give a new directory an identity."""
    replace_file(storage, f"{data_dir}/{NAME}", _encode(meta))


def _encode(meta: Meta) -> bytes:
    lines = (
        f"version={FORMAT}",
        f"cluster.id={meta.cluster_id}",
        f"node.id={meta.node_id}",
        f"offsets.topic.num.partitions={meta.offsets_topic_num_partitions}",
    )
    text = "".join(f"{line}\n" for line in lines)
    return f"{text}{_CHECKSUM}={crc32c(text.encode()):08x}\n".encode()


def _decode(path: str, data: bytes) -> Meta:
    try:
        found = _parse(data)
        version = int(found["version"])
        if version == UNFINISHED:
            raise LogError(
                f"{path}: what was begun here ({found['begun']}) was not finished: run it again, or empty the directory"
            )
        if version != FORMAT:
            raise LogError(
                f"{path} has format version {version}, this server knows version {FORMAT} only: use the server that wrote it"
            )
        if found.keys() - _KEYS:
            raise ValueError(f"unknown: {', '.join(sorted(found.keys() - _KEYS))}")
        return Meta(found["cluster.id"], int(found["node.id"]), int(found["offsets.topic.num.partitions"]))
    except (KeyError, ValueError) as error:
        raise LogError(f"{path} cannot be read ({error}): restore it, it names what the directory holds") from error


def _parse(data: bytes) -> dict[str, str]:
    text, mark, checksum = data.decode().partition(f"{_CHECKSUM}=")
    if mark and int(checksum, 16) != crc32c(text.encode()):
        raise ValueError("its checksum is not what its last line says")
    lines = (line.strip() for line in text.splitlines())
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
