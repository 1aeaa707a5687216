"""Configuration of logs, which go to stderr: readable text on a terminal, otherwise one JSON object per line.

Values may come from clients. In JSON, everything that is not printable ASCII is escaped. In text, ``_printable`` escapes it, and
the lines of a traceback are indented, so that no client can forge a line.
"""

from __future__ import annotations

import logging
import sys

import structlog

from coordinator_server.config.logs import LogFormat
from protocol.printable import printable

LEVELS = ("debug", "info", "warning", "error")


def configure(level: str, log_format: LogFormat, loop: int | None = None) -> None:
    """Configure the process's logging. Call it once. Every line has the number ``loop``, because several loops share one log."""
    is_console = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    renderers: list[structlog.typing.Processor] = [structlog.processors.format_exc_info]
    if is_console:
        renderers += [_printable, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    else:
        renderers += [structlog.processors.JSONRenderer()]

    def say_loop(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        event["loop"] = loop
        return event

    said_of_all: list[structlog.typing.Processor] = [
        *([] if loop is None else [say_loop]),
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*said_of_all, *renderers],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        # Line and line end in one write: with PYTHONUNBUFFERED each write is one of the system, and loops write to the same file.
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    # What asyncio has to say of callbacks that failed, and the page's packages of requests: with the name of who says it.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *said_of_all],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *renderers],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def _printable(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = _indented(value) if name == "exception" else printable(value)
    return event


def _indented(text: str) -> str:
    return "\n".join(f"  {printable(line)}" for line in text.split("\n"))
