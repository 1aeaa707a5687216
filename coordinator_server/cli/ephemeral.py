"""``serve --ephemeral``: a server for the tests of any language, which ends with the process that started it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from typing import Final

from coordinator_server.cli.configuration import warn_of_unknown
from coordinator_server.cli.output import complain
from coordinator_server.cli.process_settings import allow_all_files
from coordinator_server.cli.signals import stop_signals
from coordinator_server.config import ConfigError
from coordinator_server.config.listeners import listener_specs
from coordinator_server.config.sources import Sources
from coordinator_server.log.errors import LogError
from coordinator_server.ops.logging import configure
from coordinator_server.server.errors import StartError
from coordinator_server.testing.channel import Channel, is_channel, parent_gone
from coordinator_server.testing.ephemeral import EphemeralServer
from coordinator_server.testing.serve import die, requests_end, serve
from coordinator_server.testing.settings import load_settings

_STDIN: Final = 0
_LISTENERS: Final = "PLAINTEXT://127.0.0.1:0"


def run_ephemeral(options: argparse.Namespace, sources: Sources) -> int:
    """Serve until stdin ends, the parent is gone, or a signal comes. Return the exit code."""
    import uvloop

    parent = os.getppid()
    if options.data_dir is not None:
        raise ConfigError("--ephemeral keeps its log in memory, so it takes no --data-dir")
    if options.loops not in (None, "1"):
        raise ConfigError("--ephemeral has one loop, so it takes no --loops")
    settings = sources.read(lambda properties: load_settings({"listeners": _LISTENERS, **properties}))
    config = settings.config
    first = listener_specs(config)[0]
    server = EphemeralServer(config, die)
    allow_all_files()
    configure(options.log_level, options.log_format)
    warn_of_unknown(settings)
    return uvloop.run(_serve(server, first.host, first.port, parent))


async def _serve(server: EphemeralServer, host: str, port: int, parent: int) -> int:
    stopping = stop_signals(signal.SIGTERM, signal.SIGINT)
    channel = Channel(_STDIN, sys.stdout.fileno())
    ends = [stopping.wait(), parent_gone(parent)]
    if is_channel(_STDIN):
        ends.append(requests_end(server, channel))
    try:
        await serve(server, host, port, channel, *ends)
    except (StartError, LogError) as failure:
        return complain(failure, 1)
    finally:
        await server.stop()
    return 0
