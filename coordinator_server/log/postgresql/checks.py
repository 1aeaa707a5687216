"""What is wrong with a database, before anything is written to it: each finding says what to do."""

from __future__ import annotations

import time
from typing import Any, Final

from coordinator_server.log.errors import LogError
from coordinator_server.log.postgresql.session import SCHEMA

MOST_CLOCK_DIFFERENCE_S: Final = 10.0
OLDEST_SERVER: Final = 130_000
_RIGHTS: Final = {
    "meta": ("SELECT", "INSERT", "UPDATE"),
    # Former processes of a node are forgotten.
    "node": ("SELECT", "INSERT", "UPDATE", "DELETE"),
    "shard": ("SELECT", "INSERT", "UPDATE"),
    "log": ("SELECT", "INSERT", "UPDATE"),
    "layer": ("SELECT", "INSERT", "DELETE"),
    "object": ("SELECT", "INSERT", "DELETE"),
    "era": ("SELECT", "INSERT", "UPDATE", "DELETE"),
    "upkeep": ("SELECT", "UPDATE"),
    "segment": ("SELECT", "INSERT", "UPDATE", "DELETE"),
}
_STATE: Final = """
SELECT pg_backend_pid() AS pid, current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_standby_names') AS standbys,
  extract(epoch FROM clock_timestamp())::float8 AS now_s"""


async def check_connection(connection: Any, *, needs_standby: bool) -> None:
    """Raise LogError if a connection is not to the server itself, or the server does not keep what it acknowledges."""
    state = await connection.fetchrow(_STATE)
    if state["pid"] != connection.get_server_pid():
        raise LogError(
            "a pooler is between this node and the database, and sessions do not survive that: name the database's own port"
        )
    if state["version"] < OLDEST_SERVER:
        raise LogError(f"the database is PostgreSQL {state['version'] // 10_000}: {OLDEST_SERVER // 10_000} or newer is needed")
    for name in ("fsync", "full_page_writes"):
        if state[name] != "on":
            raise LogError(f"the database runs with {name}={state[name]}, and loses what it acknowledges: set {name}=on")
    if needs_standby and not state["standbys"]:
        raise LogError("the database waits for no standby, and one is asked for: set synchronous_standby_names, or ask for none")


async def check_clock(connection: Any) -> None:
    """Raise LogError if the clock of this machine is far from the database's: the times of the log would jump."""
    before = time.time()
    there = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
    difference = there - (before + time.time()) / 2
    if abs(difference) > MOST_CLOCK_DIFFERENCE_S:
        raise LogError(
            f"the database's clock is {abs(difference):.0f} s {'ahead of' if difference > 0 else 'behind'} this machine's: "
            "set the clocks (NTP)"
        )


async def check_rights(connection: Any) -> None:
    """Raise LogError if the role may not use the tables."""
    needed = [(table, right) for table, rights in _RIGHTS.items() for right in rights]
    lacking = await connection.fetch(
        "SELECT r || ' on ' || t AS right FROM unnest($1::text[], $2::text[]) needed(t, r) "
        f"WHERE NOT has_table_privilege('{SCHEMA}.' || t, r)",
        *zip(*needed, strict=True),
    )
    if lacking:
        user = await connection.fetchval("SELECT current_user")
        raise LogError(f"the role {user} lacks {', '.join(row['right'] for row in lacking)}: GRANT it")
