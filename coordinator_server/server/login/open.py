"""Opens the room: how connections begin at the listeners with SASL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coordinator_server.config.listeners import ListenerSpec
from coordinator_server.server.cluster.open import Cluster
from coordinator_server.server.exchange.api_row import ApiRow
from coordinator_server.server.exchange.dispatch import Dispatcher
from coordinator_server.server.foundation import Foundation
from coordinator_server.server.login.key_sets import KeyServices
from coordinator_server.server.login.login import BEFORE_LOGIN, AuthenticationFailed
from coordinator_server.server.login.sasl_listeners import SaslListeners, SaslMaterials
from coordinator_server.server.wire.background import Background
from coordinator_server.server.wire.open import Wire


def open_login(
    base: Foundation,
    wire: Wire,
    cluster: Cluster,
    *,
    specs: Sequence[ListenerSpec],
    apis: Sequence[ApiRow[Any, Any]],
    failed: AuthenticationFailed,
) -> SaslListeners:
    """Create the logins of a loop. Before its login a client may use few of ``apis``. Keys of tokens are fetched in a thread.

    Raises WrongProperties.
    """
    timers, clock = base.timers(), base.clock
    key_fetches = Background(base.new_worker("key-fetches-stopped"), base.loop.call_soon_threadsafe)
    materials = SaslMaterials(
        cluster.catalog,
        base.store.login_key,
        cluster.family_news,
        wire.turns.queue,
        timers,
        clock,
        Dispatcher([each for each in apis if each.key in BEFORE_LOGIN], wire.background),
        lambda: wire.listener.dispatch,
        failed,
        KeyServices(key_fetches, timers, clock, wire.incidents.report),
    )
    return SaslListeners(base.config, specs, materials)
