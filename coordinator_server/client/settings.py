"""How to reach the servers, and how to be a member of a group. Times are in seconds; defaults are those of Kafka's clients."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Final, NamedTuple, Protocol

from coordinator_server.client.errors import InvalidSettings

SASL_MECHANISMS: Final = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
DEFAULT_PORT: Final = 9092
_EXTENSION: Final = re.compile(r"[A-Za-z]+=[\x21-\x7e \t\r\n]+")


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Sasl:
    """A name and a password. PLAIN sends the password itself: use it with TLS only."""

    username: str
    password: str = field(repr=False)
    mechanism: str = "SCRAM-SHA-512"

    def __post_init__(self) -> None:
        if self.mechanism not in SASL_MECHANISMS:
            raise InvalidSettings(f"SASL mechanism {self.mechanism!r} is not one of {', '.join(SASL_MECHANISMS)}")
        if "\0" in self.username + self.password:
            raise InvalidSettings("a SASL name or password has no NUL")


class TokenSource(Protocol):
    """Gives tokens, such as ``TokenFile`` and ``ClientCredentials`` (tokens.py)."""

    def token(self) -> str:
        """Return a token that holds. It may block: connections call it in a thread. Raises ClientError."""


@dataclass(frozen=True)
class OAuthBearer:
    """A token in place of a name and a password (OAUTHBEARER). It is sent as it is: use it with TLS only."""

    tokens: TokenSource
    extensions: Mapping[str, str] = field(default_factory=dict)
    mechanism: str = field(default="OAUTHBEARER", init=False)

    def __post_init__(self) -> None:
        for name, value in self.extensions.items():
            if not _EXTENSION.fullmatch(f"{name}={value}") or name == "auth":
                raise InvalidSettings(f"the SASL extension {name!r} has a name or a value that is not allowed")


@dataclass(frozen=True)
class ConnectionSettings:
    """How to reach the servers: one object for everything that opens connections.

    ``bootstrap_servers`` are some of the servers, as "host:port,host:port" or as a list; the client learns the others from them.
    """

    bootstrap_servers: str | Iterable[str] = f"127.0.0.1:{DEFAULT_PORT}"
    _: KW_ONLY
    client_id: str = "coordinator-client"
    request_timeout_s: float = 30
    """How long a response may take. The connection is closed after that, as Kafka's clients do."""
    connect_timeout_s: float = 10
    """For a connection, its TLS handshake, ApiVersions and SASL together."""
    api_timeout_s: float = 60
    """How long ``commit`` and ``committed`` try again."""
    retry_backoff_s: float = 0.1
    """The wait before the first retry. It doubles with each, up to the maximum, and varies by 20 %."""
    retry_backoff_max_s: float = 1
    max_response_bytes: int = 300 << 20
    ssl: ssl.SSLContext | None = None
    """TLS, if there is a context; it has the certificates."""
    sasl: Sasl | OAuthBearer | None = None
    addresses: tuple[Address, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        texts = self.bootstrap_servers.split(",") if isinstance(self.bootstrap_servers, str) else self.bootstrap_servers
        object.__setattr__(self, "addresses", tuple(parse_address(text.strip()) for text in texts if text.strip()))
        if not self.addresses:
            raise InvalidSettings("bootstrap_servers names no server")
        for name in ("request_timeout_s", "connect_timeout_s", "api_timeout_s", "retry_backoff_s", "retry_backoff_max_s"):
            require_positive(name, getattr(self, name))

    @classmethod
    def of(cls, given: ConnectionSettings | str) -> ConnectionSettings:
        """Return the settings themselves, or those for a text of bootstrap servers."""
        return given if isinstance(given, ConnectionSettings) else cls(given)


@dataclass(frozen=True)
class GroupSettings:
    """The group, and how its coordinator notices that this member is gone."""

    group_id: str
    _: KW_ONLY
    group_instance_id: str | None = None
    """A name that survives a restart (static membership): the member comes back without a rebalance, within its session."""
    session_timeout_s: float = 45
    """The coordinator removes a member from which it has not heard for so long."""
    heartbeat_interval_s: float = 3
    max_poll_interval_s: float = 300
    """Heartbeats stop, and the member leaves, if its owner does not call ``ensure_active_group`` or ``poll`` for so long."""
    rebalance_timeout_s: float | None = None
    """The coordinator removes a member that does not rejoin for so long. By default ``max_poll_interval_s``."""

    def __post_init__(self) -> None:
        for name in ("session_timeout_s", "heartbeat_interval_s", "max_poll_interval_s"):
            require_positive(name, getattr(self, name))
        if self.rebalance_timeout_s is None:
            object.__setattr__(self, "rebalance_timeout_s", self.max_poll_interval_s)
        require_positive("rebalance_timeout_s", self.rebalance_s)
        if self.heartbeat_interval_s >= self.session_timeout_s:
            raise InvalidSettings("heartbeat_interval_s must be less than session_timeout_s")

    @classmethod
    def of(cls, given: GroupSettings | str) -> GroupSettings:
        """Return the settings themselves, or those for the name of a group."""
        return given if isinstance(given, GroupSettings) else cls(given)

    @property
    def rebalance_s(self) -> float:
        """Return the rebalance timeout, which always has a value."""
        assert self.rebalance_timeout_s is not None
        return self.rebalance_timeout_s


@dataclass(frozen=True)
class ElectionSettings:
    """An election, and how fast a leader that is gone is replaced."""

    name: str
    """The name of the group."""
    _: KW_ONLY
    candidate: str = ""
    """What the others see of this candidate; by default its host and process id."""
    session_timeout_s: float = 10
    """A leader from which the coordinator has not heard for so long is replaced. Brokers take 6 seconds or more by default."""
    heartbeat_interval_s: float | None = None
    """By default a fifth of a session, and a second at most."""
    topic: str = "coordination"
    """The tokens are offsets of this topic, which has two partitions. It is created if it does not exist."""
    clock_drift: float = 0.01
    """By how much the clocks of candidates and coordinator may differ in speed: terms end earlier by that part of a session."""

    def __post_init__(self) -> None:
        require_positive("session_timeout_s", self.session_timeout_s)
        if not 0 <= self.clock_drift < 1:
            raise InvalidSettings("clock_drift must be at least 0 and less than 1")

    @classmethod
    def of(cls, given: ElectionSettings | str) -> ElectionSettings:
        """Return the settings themselves, or those for the name of an election."""
        return given if isinstance(given, ElectionSettings) else cls(given)

    @property
    def group(self) -> GroupSettings:
        """The settings of the group. Its rebalances may take longer than a session: a frozen candidate is removed before that."""
        return GroupSettings(
            self.name,
            session_timeout_s=self.session_timeout_s,
            heartbeat_interval_s=self.heartbeat_interval_s or min(self.session_timeout_s / 5, 1),
            rebalance_timeout_s=2 * self.session_timeout_s,
        )


def parse_address(text: str) -> Address:
    """Return the address of "host", "host:port" or "[v6]:port"."""
    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        host, port = text, str(DEFAULT_PORT)
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise InvalidSettings(f"{text!r} is not an address: host:port is expected")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


def require_positive(name: str, value: float) -> None:
    if not value > 0:
        raise InvalidSettings(f"{name} must be greater than 0, not {value}")
