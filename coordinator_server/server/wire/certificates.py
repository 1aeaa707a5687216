"""The certificates of the listeners with TLS: read at the start, read again on SIGHUP, and watched until they expire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import structlog

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listeners import ListenerSpec
from coordinator_server.machine.shard import Clock, CoordinatorResult, CoordinatorTimer
from coordinator_server.server.errors import WrongProperties

if TYPE_CHECKING:
    from coordinator_server.security.tls import ListenerTls

log = structlog.get_logger(__name__)

# The time before its end at which a certificate is mentioned each day.
EXPIRES_SOON_DAYS: Final = 30
_DAY_MS: Final = 86_400_000
_LOOK: Final = "certificates"


def read_certificates(config: Config, listeners: Sequence[ListenerSpec]) -> dict[str, ListenerTls]:
    """Return the TLS of the listeners that have it, by name. Raises WrongProperties."""
    names = [each.name for each in listeners if each.protocol.has_tls]
    if not names:
        return {}
    # Only a server with TLS loads the package.
    from coordinator_server.security.tls import ListenerTls
    from coordinator_server.security.tls_settings import TlsSettings

    try:
        return {name: ListenerTls(TlsSettings.of(config, name)) for name in names}
    except ConfigError as wrong:
        raise WrongProperties(str(wrong)) from None


class Certificates:
    """The certificates of one loop. ``tls`` has those listeners of clients that have TLS."""

    def __init__(self, tls: Mapping[str, ListenerTls], clock: Clock, timers: CoordinatorTimer) -> None:
        self._tls = dict(tls)
        self._clock = clock
        self._timers = timers

    def add(self, tls: Mapping[str, ListenerTls]) -> None:
        """Look after the certificate of another listener, too: that for nodes."""
        self._tls |= tls

    def begin(self) -> None:
        """Mention certificates that expire soon, now and once a day."""
        if self._tls:
            self._look()

    def close(self) -> None:
        """Mention nothing any more."""
        self._timers.cancel(_LOOK)

    def reload(self, config: Config) -> None:
        """Read properties and all files again. Connections that are open keep what they have.

        A listener whose properties or files are wrong keeps the old ones.
        """
        for name, tls in self._tls.items():
            try:
                tls.reload(config)
            except ConfigError as wrong:
                log.error("certificate-not-reloaded", listener=name, why=str(wrong), action="the old one stays in use")
            else:
                log.info("certificate-reloaded", listener=name, expires=tls.not_after.isoformat())
        self.begin()

    def described(self) -> list[dict[str, Any]]:
        """Return when each certificate expires, for the operation ``status``."""
        return [
            {"listener": name, "expires": tls.not_after.isoformat(), "days_left": self._days_left(tls)}
            for name, tls in self._tls.items()
        ]

    def expiries(self) -> dict[str, float]:
        """Return when each certificate expires, in seconds since 1970, by listener."""
        return {name: tls.not_after.timestamp() for name, tls in self._tls.items()}

    def _look(self) -> CoordinatorResult[None]:
        for name, tls in self._tls.items():
            days = self._days_left(tls)
            if days < EXPIRES_SOON_DAYS:
                log.warning(
                    "certificate-expired" if days < 0 else "certificate-expires-soon",
                    listener=name,
                    expires=tls.not_after.isoformat(),
                    days_left=days,
                    action="put another one in its place, and send SIGHUP",
                )
        self._timers.schedule(_LOOK, _DAY_MS, self._look)
        return CoordinatorResult(None)

    def _days_left(self, tls: ListenerTls) -> int:
        return int((tls.not_after.timestamp() * 1000 - self._clock.wall_ms()) // _DAY_MS)
