"""The keys that vouch for tokens, of one loop: fetched in a thread, by the timers of the loop.

Listeners with the same place share a source. SIGHUP fetches again; a source that no listener has any more fetches nothing.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import structlog

from coordinator_server.config import Config, ConfigError
from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorTimer
from coordinator_server.server.wire.background import Background

if TYPE_CHECKING:
    # Only a listener with OAUTHBEARER loads the packages.
    from coordinator_server.security.oauth.fetching import Fetched
    from coordinator_server.security.oauth.key_source import KeySource
    from coordinator_server.security.oauth.settings import KeyPlace
    from coordinator_server.security.sasl.conversation import Begin, HasUser

log = structlog.get_logger(__name__)

Report = Callable[..., None]


class KeyServices(NamedTuple):
    """What fetches use of the loop. ``report`` counts a case, and logs it once per episode."""

    background: Background
    timers: CoordinatorTimer
    clock: Clock
    report: Report


class _Fetching:
    """One source, and what is known of it."""

    def __init__(self, place: KeyPlace, source: KeySource) -> None:
        self.place, self.source = place, source
        self.tls: ssl.SSLContext = place.tls()
        self.known: Fetched | None = None
        self.is_closed = False


class KeySets:
    """The sources of one loop, by their places."""

    def __init__(self, services: KeyServices) -> None:
        self._services = services
        self._open: dict[KeyPlace, _Fetching] = {}
        # By listener: what its mechanisms use, and what those use that are being made.
        self._used: dict[str, KeyPlace] = {}
        self._asked: dict[str, KeyPlace] = {}

    def open(self, config: Config, listener: str, options: Mapping[str, str]) -> tuple[Begin, HasUser]:
        """Return OAUTHBEARER for a listener, with the options of its JAAS entry. Raises ConfigError."""
        from coordinator_server.security.oauth.settings import key_place, token_rules
        from coordinator_server.security.sasl.oauthbearer import oauthbearer

        rules, place = token_rules(config, listener), key_place(config, listener, options)
        fetching = self._open.get(place) or self._begin(place, listener)
        self._asked[listener] = place
        return oauthbearer(rules, fetching.source, self._services.clock.wall_ms, partial(self._schedule, fetching))

    def settle(self, listener: str, *, is_taken: bool) -> None:
        """The mechanisms of a listener have been made, and are in use from now on unless the old ones stay."""
        place = self._asked.pop(listener, None)
        if is_taken and place is not None:
            self._used[listener] = place
        elif is_taken:
            self._used.pop(listener, None)

    def refresh(self) -> None:
        """Fetch all keys again, and forget the sources that no listener uses."""
        for place, fetching in list(self._open.items()):
            if place in self._used.values():
                self._read_tls(fetching)
                fetching.source.want()
                self._schedule(fetching)
            else:
                fetching.is_closed = True
                self._services.timers.cancel((self, place))
                del self._open[place]

    def _read_tls(self, fetching: _Fetching) -> None:
        try:
            fetching.tls = fetching.place.tls()
        except ConfigError as wrong:
            log.error("key-tls-not-reloaded", url=fetching.place.url, why=str(wrong), action="the old one stays in use")

    def _begin(self, place: KeyPlace, listener: str) -> _Fetching:
        from coordinator_server.security.oauth.fetching import KeysNotFetched, fetch, path_of
        from coordinator_server.security.oauth.key_source import KeySource

        fetching = _Fetching(place, KeySource(place.pace))
        if path_of(place.url) is not None:
            # A file of this machine exists, as the certificates do.
            fetching.source.begin()
            try:
                fetching.known = fetch(place.url, fetching.tls, None)
            except KeysNotFetched as failed:
                raise ConfigError(f"{listener}: sasl.oauthbearer.jwks.endpoint.url={place.url} {failed}") from None
            fetching.source.end(fetching.known.keys, self._services.clock.now_ms(), is_new=True)
        self._open[place] = fetching
        self._schedule(fetching)
        return fetching

    def _schedule(self, fetching: _Fetching) -> None:
        """Set the timer of the next fetch."""
        due_ms = fetching.source.due_ms()
        if due_ms is None or fetching.is_closed:
            return

        def operation() -> CoordinatorResult[None]:
            self._fetch(fetching)
            return CoordinatorResult(None)

        delay_ms = max(0, due_ms - self._services.clock.now_ms())
        self._services.timers.schedule((self, fetching.place), delay_ms, operation)

    def _fetch(self, fetching: _Fetching) -> None:
        from coordinator_server.security.oauth.fetching import fetch

        fetching.source.begin()
        job = partial(fetch, fetching.place.url, fetching.tls, fetching.known)
        self._services.background.run(job, partial(self._fetched, fetching))

    def _fetched(self, fetching: _Fetching, result: Any, _took_ns: int) -> None:
        if fetching.is_closed:
            return
        url, now_ms = fetching.place.url, self._services.clock.now_ms()
        if isinstance(result, Exception):
            fetching.source.end(None, now_ms, is_new=False)
            action = "old keys stay in use" if fetching.known else "clients are closed until there are keys"
            self._services.report("keys-not-fetched", url=url, why=str(result) or type(result).__name__, action=action)
        else:
            is_new = result is not fetching.known
            fetching.known = result
            fetching.source.end(result.keys, now_ms, is_new=is_new)
            if is_new:
                log.info("keys-fetched", url=url, keys=len(result.keys), skipped=result.keys.skipped)
        self._schedule(fetching)
