"""The configuration of a command: its options, its sources, and what SIGHUP reads again."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import structlog

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.changes import changes
from coordinator_server.config.sources import Settings, Sources

log = structlog.get_logger(__name__)

EPILOG: Final = """\
properties come from, the later ones first: --override; environment variables, as Kafka's container image spells them
(KAFKA_LOG_FLUSH=os); the file of --config. 'coordinator-server config' explains each one, and says where its value is from.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="a file of properties: NAME.toml, or NAME.properties as Kafka has it"
    )
    parser.add_argument("--override", action="append", default=[], metavar="NAME=VALUE", help="a property; repeat for more")


def sources_of(
    options: argparse.Namespace, environment: Mapping[str, str] = os.environ, others: Mapping[str, tuple[str, str]] | None = None
) -> Sources:
    """Return the sources that the options name. ``others`` are the properties that other options set, by option."""
    # A server reads the file again, whatever the current directory is then.
    file = None if options.config is None else Path(os.path.abspath(options.config))  # noqa: PTH100 - links stay as they are named
    return Sources(file, environment, options.override, others or {})


def warn_of_unknown(settings: Settings) -> None:
    """Log the names that no property has."""
    for each in settings.unknown:
        hint = {} if each.nearest is None else {"nearest": each.nearest}
        log.warning("unknown-property", name=each.name, place=each.place, action="it is ignored", **hint)


class Reload:
    """Reads the sources of a running server again. ``config`` is the configuration that it runs with, which ``apply`` changes.

    ``load`` makes a configuration of texts.
    """

    def __init__(
        self, sources: Sources, load: Callable[[Mapping[str, str]], Config], config: Config, apply: Callable[[Config], None]
    ) -> None:
        self._sources = sources
        self._load = load
        self._config = config
        self._apply = apply

    def __call__(self) -> None:
        """Apply what may change. If the sources are wrong, the properties stay; certificates are read again all the same."""
        try:
            settings = self._sources.read(self._load)
            config, made, waiting = changes(self._config, settings.config)
        except ConfigError as wrong:
            log.error("configuration-not-reloaded", why=str(wrong), action="the properties stay as they are")
            self._apply(self._config)
            return
        warn_of_unknown(settings)
        self._apply(config)
        log.info("configuration-reloaded", changed=made)
        if waiting:
            log.warning("configuration-waits", properties=waiting, action="these change when the server is started again")
