"""A primary with two standbys, any of which has to have a commit before it counts; and what is done when it fails."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from random import Random

from tests.support.eventually import eventually
from tests.support.postgresql import PostgresqlServer, Proxy

_SETTINGS = {
    "max_connections": 60,
    "wal_receiver_timeout": "2s",
    "wal_retrieve_retry_interval": "100ms",
    "wal_keep_size": "256MB",
}


class Cluster:
    """Three servers, each behind a proxy. ``primary`` takes writes; the others follow it."""

    def __init__(self) -> None:
        # Servers end with the thread that started them.
        self._starting = ThreadPoolExecutor(1)
        self.primary = self._starting.submit(PostgresqlServer, None, _SETTINGS).result()
        self.database = self.primary.database()
        self._names = iter(range(1_000))
        self.standbys: list[PostgresqlServer] = []
        self._proxies: dict[PostgresqlServer, Proxy] = {self.primary: Proxy(self.primary.socket_path)}
        # The places of three servers: clients know nothing else.
        self.places = [self._proxies[self.primary]]
        for _ in range(2):
            self.places.append(self._add_standby())
        self._wait_for_any()

    @property
    def url(self) -> str:
        """All places, as a client has them."""
        hosts = ",".join(f"127.0.0.1:{place.port}" for place in self.places)
        return f"postgresql://coordinator@{hosts}/{self.database}"

    def fail_over(self, random: Random, *, is_former_alive: bool) -> None:
        """Let the standby that has most become the primary. The former one ends before, or is alive for a while after."""
        former, place = self.primary, self._proxies[self.primary]
        if not is_former_alive:
            former.stop(signal.SIGQUIT)
        # A standby that follows the former primary no longer confirms its commits.
        found = [(_received(each), random.random(), each) for each in self._detached()]
        _, _, chosen = max(found, key=lambda each: each[:2])
        chosen.promote()
        self.standbys.remove(chosen)
        self.primary = chosen
        others, self.standbys = self.standbys, []
        self._wait_for_any()
        if is_former_alive:
            time.sleep(random.uniform(0.5, 2))
        for server in (former, *others):
            taken = self._proxies.pop(server)
            server.remove()
            taken.target = ""
            taken.cut()
            self._add_standby(taken)
        assert place in self.places

    def close(self) -> None:
        """Stop everything."""
        for place in self.places:
            place.close()
        for server in (self.primary, *self.standbys):
            server.remove()
        self._starting.shutdown()

    def _detached(self) -> list[PostgresqlServer]:
        """Return the standbys, when they have stopped to receive."""
        for each in self.standbys:
            each.sql("ALTER SYSTEM SET primary_conninfo = ''")
            each.sql("SELECT pg_reload_conf()")
        for each in self.standbys:
            eventually(lambda each=each: not each.sql("SELECT 1 FROM pg_stat_wal_receiver"))  # type: ignore[misc]
        return self.standbys

    def _add_standby(self, place: Proxy | None = None) -> Proxy:
        name = f"standby{next(self._names)}"
        standby = self._starting.submit(PostgresqlServer, self.primary, {**_SETTINGS, "cluster_name": name}).result()
        self.standbys.append(standby)
        if place is None:
            place = Proxy(standby.socket_path)
        place.target = standby.socket_path
        self._proxies[standby] = place
        return place

    def _wait_for_any(self) -> None:
        self.primary.sql("ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (*)'")
        self.primary.sql("SELECT pg_reload_conf()")


def _received(standby: PostgresqlServer) -> int:
    return int(standby.sql("SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')::bigint")[0][0])
