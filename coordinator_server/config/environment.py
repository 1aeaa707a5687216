"""Properties in environment variables, as Kafka's container image spells them (``KafkaDockerWrapper``).

``KAFKA_LOG_FLUSH`` is log.flush. Two underscores are an underscore, three are a hyphen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

PREFIX: Final = "KAFKA_"

# What Kafka's image and scripts read for themselves.
_OTHERS: Final = frozenset(
    {
        "KAFKA_DEBUG",
        "KAFKA_GC_LOG_OPTS",
        "KAFKA_HEAP_OPT",
        "KAFKA_HEAP_OPTS",
        "KAFKA_HOME",
        "KAFKA_JMX_HOSTNAME",
        "KAFKA_JMX_OPTS",
        "KAFKA_JMX_PORT",
        "KAFKA_JVM_PERFORMANCE_OPTS",
        "KAFKA_LOG4J_LOGGERS",
        "KAFKA_LOG4J_OPTS",
        "KAFKA_LOG4J_ROOT_LOGLEVEL",
        "KAFKA_OPTS",
        "KAFKA_TOOLS_LOG4J_LOGLEVEL",
        "KAFKA_VERSION",
    }
)


class VariableProperty(NamedTuple):
    """A property of the environment."""

    variable: str
    name: str
    value: str


def environment_properties(environment: Mapping[str, str]) -> Iterator[VariableProperty]:
    """Yield the properties of the environment, by the names of their variables."""
    for variable, value in sorted(environment.items()):
        if variable.startswith(PREFIX) and variable not in _OTHERS:
            yield VariableProperty(variable, _name(variable), value)


def _name(variable: str) -> str:
    dotted = variable.removeprefix(PREFIX).lower().replace("_", ".")
    return dotted.replace("...", "-").replace("..", "_")
