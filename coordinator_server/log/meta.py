"""``meta.properties``: the identity of a data directory, written once and checked at every start.

Its keys are Kafka's where Kafka has them. ``observed`` marks a directory that follows another cluster.
``version`` is the format of this directory:

    0    an import is filling the directory, ``begun`` names it; no server of any version starts
    1    has offsets.topic.num.partitions only
    2    has the number of partitions of every kind of shard, under the name of the kind's property (kinds.py)

A server adds missing numbers from its configuration, by one rename: they are missing in format 1,
and for kinds that are newer than the directory. Tools take the file as it is. The last line is a
CRC-32C of the lines before it, so that a flipped bit does not make another cluster of it; a file
that was written by hand has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crc32c import crc32c
from msgspec.structs import replace

from coordinator_server.kinds import KINDS, kind_of
from coordinator_server.log.errors import LogError, WrongDirectory
from coordinator_server.log.storage import Storage, read_file, replace_file, sync_dir
from coordinator_server.log.store import Meta
from protocol.fields import uuid_text

FORMAT: Final = 2
UNFINISHED: Final = 0
NAME: Final = "meta.properties"
# Beside it, in a directory that an import has filled: what was imported.
IMPORTED: Final = "kafka-import.json"
_READ: Final = (1, FORMAT)
_KEYS: Final = frozenset({"version", "cluster.id", "node.id"})
# The directory follows a cluster: no server writes in it. Servers that do not know the key refuse it, too.
_OBSERVED: Final = "observed"
_OF_BROKERS: Final = frozenset({"broker.id", "directory.id"})
_CHECKSUM: Final = "checksum"
# What may be in a directory that becomes a data directory: the root of a file system, our own lock, hidden files.
_LOST_AND_FOUND: Final = "lost+found"
_OF_BROKER_LOGS: Final = re.compile(r".+-\d+|.*-checkpoint|bootstrap\.checkpoint")


def open_meta(storage: Storage, data_dir: str, *, node_id: int, partitions: Mapping[str, int]) -> Meta:
    """Read the directory's identity, or give it one. LogError when it is not the one that is asked for.

    Numbers of partitions, by topic, are compared with the file's, and added where they are missing.
    Other topics stay as they are.
    """
    path = f"{data_dir}/{NAME}"
    if not storage.exists(path):
        cluster_id = uuid_text(storage.random(16))
        meta = Meta(cluster_id, node_id, dict(partitions))
        replace_file(storage, path, _encode(meta))
        return meta
    meta = _decode(path, read_file(storage, path))
    _check_asked(data_dir, meta, node_id, partitions)
    missing = {topic: count for topic, count in partitions.items() if topic not in meta.partitions}
    if missing:
        check_counted(storage, data_dir, meta)
        meta = replace(meta, partitions=meta.partitions | missing)
        replace_file(storage, path, _encode(meta))
    else:
        # The process that wrote the file may have been killed before its name was durable.
        sync_dir(storage, data_dir)
    return meta


def _check_asked(data_dir: str, meta: Meta, node_id: int, partitions: Mapping[str, int]) -> None:
    asked = {"node.id": (meta.node_id, node_id)}
    for topic, count in partitions.items():
        asked[_property_of(topic) or topic] = (meta.partitions.get(topic, count), count)
    for name, (made_with, wanted) in asked.items():
        if made_with != wanted:
            raise WrongDirectory(
                f"{data_dir} was made with {name}={made_with}, not {wanted}: start with {name}={made_with}, or another data "
                f"directory"
            )


def check_counted(storage: Storage, data_dir: str, meta: Meta) -> None:
    """Raise LogError if a topic has directories and no number of partitions: with a wrong one, keys map to other partitions."""
    for name in storage.list(data_dir):
        kind = kind_of(name)
        if kind is not None and kind.topic not in meta.partitions:
            raise LogError(
                f"{data_dir}/{NAME} does not say how many partitions {kind.topic} has, and {name} is there: "
                f"add the line {kind.partitions}= with the number it was made with, and remove the line {_CHECKSUM}="
            )


def check_unused(storage: Storage, data_dir: str) -> None:
    """Raise WrongDirectory if the directory has files but no identity."""
    if storage.exists(f"{data_dir}/{NAME}"):
        return
    there = [name for name in storage.list(data_dir) if not name.startswith((".", NAME)) and name != _LOST_AND_FOUND]
    ours = [name for name in there if kind_of(name) is not None]
    check_not_a_brokers(storage, data_dir)
    if ours:
        raise WrongDirectory(f"{data_dir} has {ours[0]} and no {NAME}, which names what the directory holds: restore that file")
    if there:
        raise WrongDirectory(
            f"{data_dir} has other files ({', '.join(there[:3])}) and no {NAME}: name a directory that is empty, or does not exist"
        )


def open_observed_meta(storage: Storage, data_dir: str, identity: Meta) -> Meta:
    """Give a directory the identity of the cluster that it follows, or check it. Topics that are new are added.

    Raises WrongDirectory and LogError.
    """
    if not storage.exists(f"{data_dir}/{NAME}"):
        write_meta(storage, data_dir, identity)
        return identity
    meta = read_meta(storage, data_dir)
    if not meta.is_observed:
        raise WrongDirectory(f"{data_dir} is a server's directory: name another one to follow a cluster in")
    if meta.cluster_id != identity.cluster_id:
        raise WrongDirectory(
            f"{data_dir} follows the cluster {meta.cluster_id}, and --bootstrap names servers of {identity.cluster_id}: name "
            "another directory, or the other cluster's servers"
        )
    for topic, count in identity.partitions.items():
        before = meta.partitions.get(topic, count)
        if before != count:
            raise WrongDirectory(
                f"{topic} has {count} partitions, and had {before} when {data_dir} was made: its keys are in other partitions "
                "since; name another directory"
            )
    both = replace(meta, partitions=meta.partitions | identity.partitions)
    if both != meta:
        write_meta(storage, data_dir, both)
    return both


def check_served(storage: Storage, data_dir: str) -> None:
    """Raise WrongDirectory if the directory follows another cluster: what a server writes there would not be that cluster's."""
    if storage.exists(f"{data_dir}/{NAME}") and begun_in(storage, data_dir) is None:
        meta = read_meta(storage, data_dir)
        if meta.is_observed:
            raise WrongDirectory(
                f"{data_dir} follows the cluster {meta.cluster_id} ('coordinator-server observe'): no server may write there; "
                "name a directory of the server's own"
            )


def check_not_a_brokers(storage: Storage, data_dir: str) -> None:
    """Raise WrongDirectory if the directory has no identity, and files that a Kafka broker makes."""
    names = storage.list(data_dir) if not storage.exists(f"{data_dir}/{NAME}") else ()
    if any(_OF_BROKER_LOGS.fullmatch(name) and kind_of(name) is None for name in names if not name.startswith(".")):
        raise _broker_directory(data_dir)


def _broker_directory(data_dir: str) -> WrongDirectory:
    return WrongDirectory(
        f"{data_dir} is a Kafka broker's directory: use 'coordinator-server import --from {data_dir} --data-dir NEW'"
    )


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
    counts = ((_property_of(topic), count) for topic, count in meta.partitions.items())
    lines = (
        f"version={FORMAT}",
        f"cluster.id={meta.cluster_id}",
        f"node.id={meta.node_id}",
        *([f"{_OBSERVED}=true"] if meta.is_observed else ()),
        *(f"{name}={count}" for name, count in counts if name is not None),
    )
    text = "".join(f"{line}\n" for line in lines)
    return f"{text}{_CHECKSUM}={crc32c(text.encode()):08x}\n".encode()


def _decode(path: str, data: bytes) -> Meta:
    try:
        found = _parse(data)
        version = int(found["version"])
        if found.keys() & _OF_BROKERS or (version != FORMAT and found.keys() == _KEYS):
            raise _broker_directory(path.rpartition("/")[0])
        if version == UNFINISHED:
            raise LogError(
                f"{path}: what was begun here ({found['begun']}) was not finished: run it again, or empty the directory"
            )
        if version not in _READ:
            raise LogError(
                f"{path} has format version {version}, this server knows versions {_READ[0]} to {_READ[-1]}: use the server that "
                f"wrote it"
            )
        unknown = sorted(found.keys() - _KEYS - {_OBSERVED} - set(map(_property_of, KINDS)))
        if unknown:
            raise LogError(f"{path} has {', '.join(unknown)}, which this server does not know: use the server that wrote it")
        counts = {
            topic: kind.partitions if isinstance(kind.partitions, int) else int(found[kind.partitions])
            for topic, kind in KINDS.items()
            if isinstance(kind.partitions, int) or kind.partitions in found
        }
        return Meta(found["cluster.id"], int(found["node.id"]), counts, is_observed=found.get(_OBSERVED) == "true")
    except (KeyError, ValueError) as error:
        raise LogError(f"{path} cannot be read ({error}): restore it, it names what the directory holds") from error


def _property_of(topic: str) -> str | None:
    """The key that a topic's number of partitions has; None when it is fixed."""
    partitions = KINDS[topic].partitions
    return partitions if isinstance(partitions, str) else None


def _parse(data: bytes) -> dict[str, str]:
    text, mark, checksum = data.decode().partition(f"{_CHECKSUM}=")
    if mark and int(checksum, 16) != crc32c(text.encode()):
        raise ValueError("its checksum is not what its last line says")
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        name, equals, value = line.strip().partition("=")
        if not name.startswith("#") and line.strip():
            if not equals:
                raise ValueError(f"line {number} is not NAME=VALUE")
            found[name] = value
    return found
