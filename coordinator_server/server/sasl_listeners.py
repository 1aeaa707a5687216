"""The listeners with SASL of one loop: what their logins share, from the properties."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from coordinator_server.config import Config, ConfigError
from coordinator_server.listeners import ListenerSpec
from coordinator_server.machine.shard import Clock, CoordinatorTimer
from coordinator_server.server.cluster.catalog import Catalog
from coordinator_server.server.connection import Connection, Dispatch
from coordinator_server.server.errors import WrongProperties
from coordinator_server.server.family_news import FamilyNews
from coordinator_server.server.login import AuthenticationFailed, Login, SaslServices
from coordinator_server.server.logins import Logins


class SaslMaterials(NamedTuple):
    """What the listeners with SASL use of the loop.

    ``before`` runs the requests of clients before the login, and what ``after`` returns those after it.
    """

    catalog: Catalog
    news: FamilyNews
    later: Callable[[Callable[[], None]], None]
    timers: CoordinatorTimer
    clock: Clock
    before: Dispatch
    after: Callable[[], Dispatch]
    failed: AuthenticationFailed


def sasl_entrances(
    config: Config, listeners: Sequence[ListenerSpec], materials: SaslMaterials
) -> dict[str, Callable[[Connection], None]]:
    """Return how a connection begins on each listener with SASL, by the listener's name. Raises WrongProperties."""
    names = [each.name for each in listeners if each.protocol.has_sasl]
    if not names:
        return {}
    # Only a server with SASL loads the package.
    from coordinator_server.security.sasl.mechanisms import max_receive_bytes, mechanisms_of

    logins = Logins(materials.catalog, materials.news, materials.later)

    def entrance(name: str) -> Callable[[Connection], None]:
        services = SaslServices(
            name,
            mechanisms_of(config, name, logins),
            logins,
            materials.timers,
            materials.clock,
            materials.before,
            materials.after,
            materials.failed,
            config.sasl_login_timeout_ms,
            config.connection_failed_authentication_delay_ms,
            max_receive_bytes(config, name),
            config.socket_request_max_bytes,
        )
        return lambda connection: Login(services).begin(connection)

    try:
        return {name: entrance(name) for name in names}
    except ConfigError as wrong:
        raise WrongProperties(str(wrong)) from None
