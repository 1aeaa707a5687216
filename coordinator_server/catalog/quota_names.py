"""The quotas of clients: their names, whom they may be of, and their values (Kafka's ``QuotaConfig``,
``ClientQuotaControlManager``).
"""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Final

from coordinator_server.machine.errors import CoordinatorError
from protocol.error_codes import ErrorCode

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

PRODUCER_BYTE_RATE: Final = "producer_byte_rate"
CONSUMER_BYTE_RATE: Final = "consumer_byte_rate"
REQUEST_PERCENTAGE: Final = "request_percentage"
CONTROLLER_MUTATION_RATE: Final = "controller_mutation_rate"
CONNECTION_CREATION_RATE: Final = "connection_creation_rate"


class Number(Enum):
    """The type of a quota's value: the largest one, and its name in messages. A DOUBLE may have a fraction."""

    DOUBLE = (math.inf, "a DOUBLE")
    INT = (float((1 << 31) - 1), "an INT")
    LONG = (float((1 << 63) - 1), "a LONG")


class Match(IntEnum):
    """How DescribeClientQuotas compares the name of an entity: with a name, with the default, or not at all."""

    EXACT = 0
    DEFAULT = 1
    SPECIFIED = 2


Entity = tuple[tuple[str, str | None], ...]
"""Types of entities with names, in the order of the types. None is the name of the default entity."""

_OF_CLIENTS: Final[Mapping[str, Number]] = {
    PRODUCER_BYTE_RATE: Number.LONG,
    CONSUMER_BYTE_RATE: Number.LONG,
    REQUEST_PERCENTAGE: Number.DOUBLE,
    CONTROLLER_MUTATION_RATE: Number.DOUBLE,
}
_OF_ADDRESSES: Final[Mapping[str, Number]] = {CONNECTION_CREATION_RATE: Number.INT}
_TYPES: Final = (CLIENT_ID, IP, USER)
# The largest difference between a value and a whole number that does not count.
_EPSILON: Final = 1e-6


def names_for(entity: Entity) -> Mapping[str, Number]:
    """Return the quotas that an entity may have. Raises CoordinatorError if it is not an entity of quotas."""
    types = dict(entity)
    for kind, name in entity:
        if kind not in _TYPES:
            raise _invalid(f"Unhandled client quota entity type: {kind}")
        if name == "":
            raise _invalid(f"Empty {kind} not supported")
    if not types:
        raise _invalid("Invalid empty client quota entity")
    if IP not in types:
        return _OF_CLIENTS
    if len(types) > 1:
        raise _invalid("Invalid quota entity combination, IP entity shouldnot be combined with User or ClientId")
    if types[IP] is not None:
        _check_address(types[IP] or "")
    return _OF_ADDRESSES


def check_value(names: Mapping[str, Number], name: str, value: float) -> None:
    """Raise CoordinatorError unless a quota of this name may have the value."""
    number = names.get(name)
    if number is None:
        raise _invalid(f"Invalid configuration key {name}")
    if not value > 0:
        raise _invalid(f"Quota {name} must be greater than 0")
    most, words = number.value
    if value > most:
        raise _invalid(f"Proposed value for {name} is too large for {words}.")
    if number is not Number.DOUBLE and math.fmod(value, 1) > _EPSILON:
        raise _invalid(f"{name} cannot be a fractional value.")


def shown(entity: Entity) -> str:
    """Return an entity as Kafka's messages show it."""
    parts = ", ".join(f"{kind}={'null' if name is None else name}" for kind, name in entity)
    return f"ClientQuotaEntity(entries={{{parts}}})"


def _check_address(text: str) -> None:
    """Raise CoordinatorError for a name of a host: a request must not make the server ask a name server."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise _invalid(f"{text} is not a valid IP or resolvable host.") from None


def _invalid(message: str) -> CoordinatorError:
    return CoordinatorError(ErrorCode.INVALID_REQUEST, message)
