"""The listeners with SASL of one loop: what their logins share, from the properties, which SIGHUP may change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import structlog

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listeners import ListenerSpec
from coordinator_server.machine.shard import Clock, CoordinatorTimer
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.cluster.family_news import FamilyNews
from coordinator_server.server.errors import WrongProperties
from coordinator_server.server.login.key_sets import KeyServices, KeySets
from coordinator_server.server.login.login import AuthenticationFailed, Login, SaslServices
from coordinator_server.server.login.logins import ListenerUser, Logins
from coordinator_server.server.wire.connection import Connection, Dispatch

log = structlog.get_logger(__name__)


class SaslMaterials(NamedTuple):
    """What the listeners with SASL use of the loop.

    ``before`` runs the requests of clients before the login, and what ``after`` returns those after it.
    """

    catalog: Catalog
    login_key: Callable[[], bytes]
    news: FamilyNews
    later: Callable[[Callable[[], None]], None]
    timers: CoordinatorTimer
    clock: Clock
    before: Dispatch
    after: Callable[[], Dispatch]
    failed: AuthenticationFailed
    keys: KeyServices


class SaslListeners:
    """``entrances`` has how a connection begins, by the listener's name. Raises WrongProperties."""

    def __init__(self, config: Config, listeners: Sequence[ListenerSpec], materials: SaslMaterials) -> None:
        self.entrances: dict[str, Callable[[Connection], None]] = {}
        # The mechanisms of each listener, as its logins see them.
        self._mechanisms: dict[str, dict[str, Any]] = {}
        names = [each.name for each in listeners if each.protocol.has_sasl]
        if not names:
            return
        self._login_key = materials.login_key()
        self._logins = Logins(materials.catalog, materials.news, materials.later)
        self._key_sets = KeySets(materials.keys)
        try:
            for name in names:
                self.entrances[name] = self._entrance(config, name, materials)
        except ConfigError as wrong:
            raise WrongProperties(str(wrong)) from None

    def reload(self, changed: Config) -> None:
        """Use other mechanisms and users from now on. A listener whose properties are wrong keeps the old ones."""
        for name, present in self._mechanisms.items():
            # Only a server with SASL loads the package.
            from coordinator_server.security.sasl.mechanisms import mechanisms_of

            try:
                wanted = mechanisms_of(changed, name, self._logins, self._login_key, self._key_sets.open)
            except ConfigError as wrong:
                log.error("mechanisms-not-reloaded", listener=name, why=str(wrong), action="the old ones stay in use")
                self._key_sets.settle(name, is_taken=False)
                continue
            self._key_sets.settle(name, is_taken=True)
            present.clear()
            present.update(wanted)

            def has_user(key: ListenerUser, wanted: dict[str, Any] = present) -> bool:
                mechanism = wanted.get(key.mechanism)
                return mechanism is not None and bool(mechanism.has_user(key.user))

            self._logins.reloaded(name, has_user)
        if self._mechanisms:
            self._key_sets.refresh()

    def _entrance(self, config: Config, name: str, materials: SaslMaterials) -> Callable[[Connection], None]:
        from coordinator_server.security.sasl.mechanisms import max_receive_bytes, mechanisms_of

        mechanisms: dict[str, Any] = dict(mechanisms_of(config, name, self._logins, self._login_key, self._key_sets.open))
        self._mechanisms[name] = mechanisms
        self._key_sets.settle(name, is_taken=True)
        services = SaslServices(
            name,
            mechanisms,
            self._logins,
            materials.timers,
            materials.clock,
            materials.before,
            materials.after,
            materials.failed,
            config.access.sasl_login_timeout_ms,
            config.access.connection_failed_authentication_delay_ms,
            max_receive_bytes(config, name),
            config.socket_request_max_bytes,
        )
        return lambda connection: Login(services).begin(connection)
