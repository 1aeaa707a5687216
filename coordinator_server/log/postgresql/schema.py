"""The tables: made at the first start of a cluster, and compared with what a node expects at every start.

    meta    one row: the format, the cluster, what all nodes share, and where the files of new layers go
    node    a process of a node: incarnation, listeners, renewals of its lease, whether it is leaving
    shard   its owner, its epoch, and its end. An append changes the end alone, in place
    log     the appends. An era is emptied as a whole, by TRUNCATE
    layer   the published layers of a shard, with their manifests. They stand for the offsets before their ends
    object  the files of layers and of attempts, in parts
    era     when an era was closed: all its rows are older. The era in which rows are written is that of meta
    upkeep  one row: the term of whoever makes layers and empties eras
    segment rows that are files in an object store, also when they are not in log any more (segments.py)

``docs/cluster.md`` describes them. All are in a schema of their own, so a database holds one cluster.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import asyncpg

from coordinator_server.kinds import KINDS
from coordinator_server.log.errors import LogError, WrongDirectory
from coordinator_server.log.postgresql.session import SCHEMA
from coordinator_server.log.shards import ShardId
from coordinator_server.log.store import Meta
from protocol.fields import uuid_text

FORMAT: Final = 3
LAYERS_FORMAT: Final = 2
OLDEST_FORMAT: Final = 1
"""Format 1 has no layers, and format 2 none in an object store. Tables have the next format when rows are removed (removal.py), and
when the first layer goes there (upkeep.py): until then nodes of the version before may go on."""
ERAS: Final = 8
KEY_BYTES: Final = 32
# One node at a time makes the tables.
_LOCK: Final = "SELECT pg_advisory_xact_lock(hashtext('coordinator_server tables'))"
_TABLES: Final = """
CREATE TABLE meta (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  format integer NOT NULL,
  cluster_id text NOT NULL,
  login_key bytea NOT NULL,
  partitions jsonb NOT NULL,
  era smallint NOT NULL DEFAULT 0
);
CREATE TABLE node (
  id integer NOT NULL,
  incarnation bigint NOT NULL,
  listeners jsonb NOT NULL,
  format_max integer NOT NULL,
  renewals bigint NOT NULL DEFAULT 0,
  is_dead boolean NOT NULL DEFAULT false,
  PRIMARY KEY (id, incarnation)
) WITH (fillfactor = 20);
CREATE TABLE shard (
  sid integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  topic text NOT NULL,
  partition integer NOT NULL,
  owner integer,
  owner_incarnation bigint,
  epoch bigint NOT NULL DEFAULT 0,
  resolution integer NOT NULL DEFAULT 0,
  log_start bigint NOT NULL DEFAULT 0,
  next_offset bigint NOT NULL DEFAULT 0,
  UNIQUE (topic, partition),
  CHECK ((owner IS NULL) = (owner_incarnation IS NULL))
) WITH (fillfactor = 20);
CREATE TABLE log (
  era smallint NOT NULL,
  sid integer NOT NULL,
  base_offset bigint NOT NULL,
  next_offset bigint NOT NULL,
  epoch bigint NOT NULL,
  data bytea STORAGE EXTERNAL NOT NULL,
  PRIMARY KEY (sid, base_offset, era)
) PARTITION BY LIST (era);
"""
# What format 2 has beside these. Whoever knows format 1 alone does not notice.
_LAYER_TABLES: Final = """
CREATE TABLE layer (
  sid integer NOT NULL,
  to_offset bigint NOT NULL,
  attempt text NOT NULL,
  term bigint NOT NULL,
  manifest bytea NOT NULL,
  PRIMARY KEY (sid, to_offset)
);
CREATE TABLE object (
  attempt text NOT NULL,
  name text NOT NULL,
  part integer NOT NULL,
  data bytea NOT NULL,
  PRIMARY KEY (attempt, name, part)
);
ALTER TABLE object ALTER COLUMN data SET STORAGE EXTERNAL;
CREATE TABLE era (
  era smallint PRIMARY KEY,
  opened_ms bigint NOT NULL,
  closed_ms bigint
);
CREATE TABLE upkeep (
  is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one),
  term bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT ''
);
INSERT INTO upkeep DEFAULT VALUES;
"""
# Nodes of earlier versions do not read it: for them a shard begins where its rows do.
_SEGMENT_TABLE: Final = """
CREATE TABLE segment (
  sid integer NOT NULL,
  base_offset bigint NOT NULL,
  next_offset bigint NOT NULL,
  size bigint NOT NULL,
  crc32c bigint NOT NULL,
  closed_ms bigint NOT NULL,
  term bigint NOT NULL,
  url text NOT NULL,
  is_removed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (sid, base_offset)
)"""
# What nodes of earlier versions do not read: they give shards to a node that is leaving, until it has left.
_COLUMNS: Final = {
    ("node", "is_leaving"): "boolean NOT NULL DEFAULT false",
    ("meta", "objects"): "text NOT NULL DEFAULT ''",
}
_HAS_COLUMN: Final = "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = $1::text::regclass AND attname = $2)"
# PostgreSQL 15 has STORAGE only in ALTER TABLE.
_STORAGE: Final = "ALTER TABLE log ALTER COLUMN data SET STORAGE EXTERNAL"


class Shared(NamedTuple):
    """What all nodes share: the identity of the log, a secret, and the number of each shard."""

    meta: Meta
    login_key: bytes
    sids: Mapping[ShardId, int]


async def open_tables(connection: Any, *, node_id: int, partitions: Mapping[str, int], cluster_id: str | None = None) -> Shared:
    """Make the tables if there are none, and return what they say.

    ``partitions`` are by topic, as the node's configuration has them. ``cluster_id`` is that of a log that is brought into the
    database, or None. Raises WrongDirectory if the tables are of another cluster or configuration, LogError if they are of another
    format or may not be used.
    """
    try:
        async with connection.transaction():
            await connection.execute(_LOCK)
            if not await connection.fetchval(f"SELECT to_regclass('{SCHEMA}.meta') IS NOT NULL"):
                await _make(connection, partitions, cluster_id or uuid_text(uuid.UUID(bytes=os.urandom(16)).bytes))
            if not await connection.fetchval(f"SELECT to_regclass('{SCHEMA}.layer') IS NOT NULL"):
                await connection.execute(_LAYER_TABLES)
            if not await connection.fetchval(f"SELECT to_regclass('{SCHEMA}.segment') IS NOT NULL"):
                await connection.execute(_SEGMENT_TABLE)
            for (table, column), kind in _COLUMNS.items():
                if not await connection.fetchval(_HAS_COLUMN, f"{SCHEMA}.{table}", column):
                    await connection.execute(f"ALTER TABLE {SCHEMA}.{table} ADD COLUMN {column} {kind}")
            return await _opened(connection, node_id, partitions, cluster_id)
    except asyncpg.InsufficientPrivilegeError as refused:
        user = await connection.fetchval("SELECT current_user")
        raise LogError(
            f"the role {user} may not do what the store needs ({refused}): GRANT CREATE ON DATABASE to it, or let it own the "
            f"schema {SCHEMA}"
        ) from refused


async def _make(connection: Any, partitions: Mapping[str, int], cluster_id: str) -> None:
    if not await connection.fetchval("SELECT to_regnamespace($1) IS NOT NULL", SCHEMA):
        await connection.execute(f"CREATE SCHEMA {SCHEMA}")
    await connection.execute(_TABLES.replace(" STORAGE EXTERNAL", ""))
    await connection.execute(_STORAGE)
    for era in range(ERAS):
        # Rows up to a page stay where they are: a table beside it would cost a second write.
        await connection.execute(
            f"CREATE TABLE log_{era} PARTITION OF log FOR VALUES IN ({era}) WITH (toast_tuple_target = 8160)"
        )
    await connection.execute(
        "INSERT INTO meta(format, cluster_id, login_key, partitions) VALUES ($1, $2, $3, $4)",
        OLDEST_FORMAT,
        cluster_id,
        os.urandom(KEY_BYTES),
        json.dumps(dict(partitions)),
    )


async def _opened(connection: Any, node_id: int, partitions: Mapping[str, int], cluster_id: str | None) -> Shared:
    row = await connection.fetchrow("SELECT format, cluster_id, login_key, partitions FROM meta")
    if row is None:
        raise LogError(f"the table {SCHEMA}.meta is empty: restore the database, or drop the schema if it holds nothing")
    if row["format"] > FORMAT:
        raise LogError(f"the tables have format {row['format']}, this node knows {FORMAT}: use the version that made them")
    if row["format"] < OLDEST_FORMAT:
        raise LogError(f"the tables have format {row['format']}, this node needs {OLDEST_FORMAT}: use the version that made them")
    if cluster_id is not None and row["cluster_id"] != cluster_id:
        raise WrongDirectory(f"the database has the cluster {row['cluster_id']}, not {cluster_id}: name another database")
    counts: dict[str, int] = json.loads(row["partitions"])
    for topic, count in partitions.items():
        if counts.get(topic, count) != count:
            kind = KINDS.get(topic)
            name = kind.partitions if kind is not None else topic
            raise WrongDirectory(
                f"the database was made with {name}={counts[topic]}, not {count}: start with {name}={counts[topic]}, or another "
                "database"
            )
    missing = {topic: count for topic, count in partitions.items() if topic not in counts}
    if missing:
        counts |= missing
        await connection.execute("UPDATE meta SET partitions = $1", json.dumps(counts))
    if missing or not await connection.fetchval("SELECT EXISTS (SELECT FROM shard)"):
        for topic, count in counts.items():
            await connection.execute(
                "INSERT INTO shard(topic, partition) SELECT $1, each FROM generate_series(0, $2 - 1) each ON CONFLICT DO NOTHING",
                topic,
                count,
            )
    sids = {ShardId(each["topic"], each["partition"]): each["sid"] for each in await connection.fetch("SELECT * FROM shard")}
    return Shared(Meta(row["cluster_id"], node_id, counts), row["login_key"], sids)
