"""The mechanisms of a listener, from Kafka's properties: ``sasl.enabled.mechanisms``, and those of each mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from coordinator_server.catalog.scram_users import ScramMechanism
from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listener_settings import PREFIX, setting_of
from coordinator_server.config.values import unknown_user_iterations
from coordinator_server.security.sasl.conversation import Begin, HasUser
from coordinator_server.security.sasl.jaas import BadJaas, parse_jaas
from coordinator_server.security.sasl.plain import plain
from coordinator_server.security.sasl.scram import Credentials, ScramUsers, Strangers, scram

_MECHANISMS_ENABLED: Final = "sasl.enabled.mechanisms"
_JAAS: Final = "sasl.jaas.config"
_MAX_REAUTH: Final = "connections.max.reauth.ms"
_MAX_RECEIVE: Final = "sasl.server.max.receive.size"
SETTINGS: Final = (_MECHANISMS_ENABLED, _JAAS, _MAX_REAUTH, _MAX_RECEIVE)
"""The properties that a listener has for itself, or a mechanism of it."""
OpenKeys = Callable[[Config, str, Mapping[str, str]], tuple[Begin, HasUser]]
"""Opens OAUTHBEARER for a listener, with the options of its JAAS entry. Raises ConfigError."""


class Given(NamedTuple):
    """What a mechanism is made of.

    ``options`` are those of its JAAS entry, ``users`` what is said of users that the catalog has or does not have. ``keys`` opens
    the mechanism of tokens.
    """

    config: Config
    listener: str
    options: Mapping[str, str]
    users: ScramUsers
    keys: OpenKeys


_MECHANISMS: Final[dict[str, Callable[[Given], tuple[Begin, HasUser]]]] = {
    "PLAIN": lambda given: plain(given.options),
    "SCRAM-SHA-256": lambda given: scram(ScramMechanism.SCRAM_SHA_256, given.users),
    "SCRAM-SHA-512": lambda given: scram(ScramMechanism.SCRAM_SHA_512, given.users),
    "OAUTHBEARER": lambda given: given.keys(given.config, given.listener, given.options),
}
# Those whose users are in the JAAS entry, which they cannot do without.
_WITH_USERS: Final = frozenset({"PLAIN"})


class Mechanism(NamedTuple):
    """A mechanism of a listener. ``max_reauth_ms`` is the longest time until a client must authenticate again, 0 if it need not.

    ``has_user`` is about the users that the listener's properties have.
    """

    begin: Begin
    has_user: HasUser
    max_reauth_ms: int


def mechanisms_of(
    config: Config, listener: str, credentials: Credentials, login_key: bytes, keys: OpenKeys
) -> dict[str, Mechanism]:
    """Return the mechanisms of a listener with SASL, by name, in the order of the property. Raises ConfigError.

    ``login_key`` is a secret that all loops have, and keep.
    """
    text = str(setting_of(config, listener, _MECHANISMS_ENABLED))
    names = [name.strip().upper() for name in text.split(",") if name.strip()]
    served = ", ".join(_MECHANISMS)
    if not names:
        raise ConfigError(f"{listener}: sasl.enabled.mechanisms is required: one or more of {served}")
    for name in names:
        if name not in _MECHANISMS:
            raise ConfigError(f"{listener}: sasl.enabled.mechanisms={text}: {name} is not one of {served}")
    users = ScramUsers(credentials, Strangers(login_key, unknown_user_iterations(config)))
    given = Given(config, listener, {}, users, keys)
    return {name: _mechanism(given, name) for name in names}


def max_receive_bytes(config: Config, listener: str) -> int:
    """Return the size of the largest request of a client that is not known yet."""
    size = setting_of(config, listener, _MAX_RECEIVE)
    assert isinstance(size, int)
    return size


def _mechanism(given: Given, name: str) -> Mechanism:
    config, listener = given.config, given.listener
    text = str(setting_of(config, listener, _JAAS, name))
    property_name = f"{PREFIX}{listener.lower()}.{name.lower()}.{_JAAS}"
    if text:
        try:
            given = given._replace(options=parse_jaas(text).options)
        except BadJaas as bad:
            raise ConfigError(f"{property_name} {bad}") from None
    elif name in _WITH_USERS:
        example = 'org.apache.kafka.common.security.plain.PlainLoginModule required user_NAME="PASSWORD";'
        raise ConfigError(f"{property_name} is required: it has the users, as in {example}")
    max_reauth_ms = setting_of(config, listener, _MAX_REAUTH, name)
    assert isinstance(max_reauth_ms, int)
    return Mechanism(*_MECHANISMS[name](given), max_reauth_ms)
