"""The listeners of a server: names, addresses and security protocols, as Kafka's properties spell them.

``listeners`` has the addresses to bind, ``advertised.listeners`` those that clients get, and
``listener.security.protocol.map`` the protocol of a name that is not itself one. The rules are those of Kafka's
``SocketServerConfigs`` and ``KafkaConfig``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from coordinator_server.config.config import LAST_PORT, Config
from coordinator_server.config.errors import ConfigError

_LISTENER: Final = re.compile(r"([A-Za-z0-9_.-]+)://(?:\[([^\]]*)\]|([^:\[\]]*)):(-?\d+)")
_WILDCARDS: Final = ("", "0.0.0.0", "::")


class SecurityProtocol(Enum):
    """Kafka's ``SecurityProtocol``."""

    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def has_tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def has_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class ListenerAddress(NamedTuple):
    """An item of ``listeners`` or ``advertised.listeners``."""

    name: str
    host: str
    port: int


class ListenerSpec(NamedTuple):
    """A listener. ``host`` "" is every address of the machine, ``port`` 0 a free one; with several loops it is that of loop 0.

    ``advertised`` is loop 0's address for clients if it is not the one that they connect to.
    """

    name: str
    host: str
    port: int
    protocol: SecurityProtocol
    advertised: tuple[str, int] | None = None

    def __str__(self) -> str:
        return f"{self.name}://{bracketed(self.host)}:{self.port}"


def bracketed(host: str) -> str:
    """Return a host as it is written before a port."""
    return f"[{host}]" if ":" in host else host


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address to listen on."""
    return host in {"localhost", "::1"} or host.startswith("127.")


def is_wildcard(host: str) -> bool:
    """Return whether an address to listen on is every address of the machine."""
    return host in _WILDCARDS


def listener_specs(config: Config, loops: int = 1) -> tuple[ListenerSpec, ...]:
    """Return the listeners for clients, in the order of ``listeners``. Raises ConfigError."""
    name = _normalised(config.cluster.inter_node_listener_name)
    specs = tuple(each for each in _all_specs(config, loops) if each.name != name)
    if not specs:
        raise ConfigError(f"listeners={config.listeners}: no listener is left for clients, as {name} is for nodes")
    return specs


def listener_names(config: Config, loops: int = 1) -> list[str]:
    """Return the names of all listeners: those for clients, and that for nodes. Raises ConfigError."""
    clients = [each.name for each in listener_specs(config, loops)]
    return [*clients, *(each.name for each in _all_specs(config, loops) if each.name not in clients)]


def node_listener(config: Config) -> ListenerSpec:
    """Return the listener for other nodes. Raises ConfigError."""
    name = _normalised(config.cluster.inter_node_listener_name)
    given = f"inter.node.listener.name={name}"
    found = next((each for each in _all_specs(config, 1) if each.name == name), None)
    if found is None:
        raise ConfigError(f"{given}: a store requires one of the listeners ({config.listeners}) that is for nodes, such as NODES")
    if found.protocol is not SecurityProtocol.SSL:
        raise ConfigError(f"{given}: nodes prove who they are by certificates: listener.security.protocol.map needs {name}:SSL")
    if found.host in _WILDCARDS and found.advertised is None:
        raise ConfigError(f"{given}: advertised.listeners has to say at which host other nodes reach {found}")
    return found


def _all_specs(config: Config, loops: int) -> tuple[ListenerSpec, ...]:
    protocols = _protocols(config)
    addresses = list(_addresses(f"listeners={config.listeners}", config.listeners))
    if not addresses:
        raise ConfigError("listeners is empty: one address is required, such as PLAINTEXT://127.0.0.1:9092")
    advertised = _advertised(config, addresses, loops)
    specs = []
    for address in addresses:
        protocol = protocols.get(address.name)
        if protocol is None:
            raise ConfigError(
                f"listeners={config.listeners}: listener.security.protocol.map has no protocol for {address.name}, "
                f"such as {address.name}:SSL"
            )
        specs.append(ListenerSpec(*address, protocol, advertised.get(address.name)))
    _check_distinct(config, specs, loops)
    return tuple(specs)


def _protocols(config: Config) -> dict[str, SecurityProtocol]:
    text = config.listener_security_protocol_map
    protocols: dict[str, SecurityProtocol] = {}
    for item in _items(text):
        name, _, protocol = item.partition(":")
        try:
            protocols[_normalised(name)] = SecurityProtocol(protocol.strip().upper())
        except ValueError:
            known = ", ".join(each.value for each in SecurityProtocol)
            raise ConfigError(
                f"listener.security.protocol.map={text}: {item!r} is not NAME:PROTOCOL with one of {known}"
            ) from None
    return protocols


def _advertised(config: Config, listeners: list[ListenerAddress], loops: int) -> dict[str, tuple[str, int]]:
    text = config.advertised_listeners
    given = f"advertised.listeners={text}"
    if text and "://" not in text:
        if len(listeners) > 1 or "," in text:
            raise ConfigError(f"{given}: an address without a listener's name is for one listener only")
        text = f"{listeners[0].name}://{text}"
    known = [each.name for each in listeners]
    found = {}
    for each in _addresses(given, text):
        if each.name not in known:
            raise ConfigError(f"{given}: {each.name} is none of the listeners ({', '.join(known)})")
        if each.host in _WILDCARDS:
            raise ConfigError(f"{given}: clients cannot connect to {each.host or 'an address without a host'}")
        last = each.port + loops - 1
        if last > LAST_PORT:
            raise ConfigError(f"{given}: {loops} loops need ports up to {last}, and {LAST_PORT} is the last one")
        found[each.name] = (each.host, each.port)
    return found


def _addresses(given: str, text: str) -> Iterator[ListenerAddress]:
    """Yield the items of a text. Raises ConfigError, which says what was ``given``, for one that is malformed or comes twice."""
    seen = set()
    for item in _items(text):
        match = _LISTENER.fullmatch(item)
        if match is None or not -1 < int(match[4]) <= LAST_PORT:
            raise ConfigError(f"{given}: {item!r} is not NAME://HOST:PORT, such as PLAINTEXT://127.0.0.1:9092")
        address = ListenerAddress(_normalised(match[1]), match[2] if match[2] is not None else match[3], int(match[4]))
        if address.name in seen:
            raise ConfigError(f"{given}: {address.name} is named twice; each listener needs a name of its own")
        seen.add(address.name)
        yield address


def _check_distinct(config: Config, specs: list[ListenerSpec], loops: int) -> None:
    """Raise ConfigError if two listeners need the same port. With several loops each needs as many."""
    for place, one in enumerate(specs):
        for other in specs[place + 1 :]:
            if one.port and other.port and abs(one.port - other.port) < loops:
                of_loops = f": {loops} loops take {loops} ports of each" if loops > 1 else ""
                raise ConfigError(f"listeners={config.listeners}: {one.name} and {other.name} need the same port{of_loops}")


def _items(text: str) -> Iterator[str]:
    return filter(None, (part.strip() for part in text.split(",")))


def _normalised(name: str) -> str:
    return name.strip().upper()
