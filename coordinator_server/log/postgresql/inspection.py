"""What a database says of itself: standbys, and the oldest snapshot of its sessions."""

from __future__ import annotations

from typing import Final

from coordinator_server.log.postgresql.address import Address
from coordinator_server.log.postgresql.schema import ERAS
from coordinator_server.log.postgresql.session import SCHEMA, Session
from coordinator_server.log.store_state import Snapshot, StoreState

# Without pg_read_all_stats a role sees its own sessions alone.
_STATE: Final = f"""
SELECT current_setting('server_version') AS version, current_setting('synchronous_standby_names') AS standbys,
  (SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')) AS synchronous,
  pg_has_role('pg_read_all_stats', 'USAGE') AS sees_all,
  (SELECT bool_and(has_table_privilege('{SCHEMA}.log_' || each, 'TRUNCATE')) FROM generate_series(0, {ERAS - 1}) each) AS trims,
  (SELECT count(*) FROM era WHERE closed_ms IS NOT NULL) AS waiting_eras, (SELECT objects FROM meta) AS objects,
  (SELECT sum(pg_total_relation_size(('{SCHEMA}.log_' || each)::regclass))::bigint FROM generate_series(0, {ERAS - 1}) each)
    AS log_bytes,
  (SELECT count(*) FROM segment WHERE NOT is_removed) AS segments,
  (SELECT coalesce(sum(size), 0)::bigint FROM segment WHERE NOT is_removed) AS segment_bytes"""
_OLDEST_SNAPSHOT: Final = """
SELECT pid, coalesce(usename, '') AS user, application_name, age(backend_xmin) AS transactions,
  extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds
FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
ORDER BY age(backend_xmin) DESC, xact_start LIMIT 1"""


async def inspect(session: Session, address: Address) -> StoreState:
    """Ask the database. Raises LogError."""
    [state] = await session.read(_STATE, waits=False)
    oldest = [
        Snapshot(row["pid"], row["user"], row["application_name"], row["transactions"], row["seconds"])
        for row in await session.read(_OLDEST_SNAPSHOT, waits=False)
    ]
    return StoreState(
        address.shown,
        state["version"],
        state["standbys"],
        state["synchronous"],
        state["sees_all"],
        address.needs_standby,
        oldest[0] if oldest else None,
        state["trims"],
        state["waiting_eras"],
        ERAS,
        state["objects"].partition("?")[0],
        state["log_bytes"],
        state["segments"],
        state["segment_bytes"],
    )
