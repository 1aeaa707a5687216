"""Opens the room: how connections begin at the listeners with SASL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coordinator_server.config import Config
from coordinator_server.config.listeners import ListenerSpec
from coordinator_server.machine.shard import Clock, CoordinatorTimer
from coordinator_server.server.cluster.open import Cluster
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.login.key_sets import KeyServices
from coordinator_server.server.login.login import BEFORE_LOGIN, AuthenticationFailed
from coordinator_server.server.login.sasl_listeners import SaslListeners, SaslMaterials
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.open import Wire


def open_login(  # noqa: PLR0913 - arguments with names
    *,
    config: Config,
    specs: Sequence[ListenerSpec],
    login_key: Callable[[], bytes],
    clock: Clock,
    timers: CoordinatorTimer,
    wire: Wire,
    cluster: Cluster,
    apis: Sequence[ApiRow[Any, Any]],
    failed: AuthenticationFailed,
    key_fetches: Background,
) -> SaslListeners:
    """Create the logins of a loop. Before its login a client may use few of ``apis``. ``key_fetches`` runs what fetches
    keys. Raises WrongProperties.
    """
    materials = SaslMaterials(
        cluster.catalog,
        login_key,
        cluster.family_news,
        wire.turns.queue,
        timers,
        clock,
        Dispatcher([each for each in apis if each.key in BEFORE_LOGIN], wire.background),
        lambda: wire.listener.dispatch,
        failed,
        KeyServices(key_fetches, timers, clock, wire.incidents.report),
    )
    return SaslListeners(config, specs, materials)
