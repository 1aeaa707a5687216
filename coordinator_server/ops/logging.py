"""Configuration of logs, which go to stderr: readable text on a terminal, otherwise one JSON object per line.

Values may come from clients. In JSON, everything that is not printable ASCII is escaped. In text, ``_printable`` escapes it, and
the lines of a traceback are indented, so that no client can forge a line.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

import structlog

from coordinator_server.config.logs import LogFormat
from protocol.printable import printable

LEVELS = ("debug", "info", "warning", "error")


def configure(level: str, log_format: LogFormat, loop: int | None = None) -> None:
    """Configure the process's logging. Call it once. Every line has the number ``loop``, because several loops share one log."""
    is_console = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    renderers: list[structlog.typing.Processor] = [structlog.processors.format_exc_info]
    # For what asyncio has to say of callbacks that failed, and the page's packages of requests.
    handler = logging.StreamHandler(sys.stderr)
    if is_console:
        renderers += [_printable, structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
        handler.setFormatter(_PrintableFormatter())
    else:
        renderers += [structlog.processors.JSONRenderer()]
        handler.setFormatter(_JsonFormatter())

    def say_loop(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        event["loop"] = loop
        return event

    structlog.configure(
        processors=[
            *([] if loop is None else [say_loop]),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        # Line and line end in one write: with PYTHONUNBUFFERED each write is one of the system, and loops write to the same file.
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def _printable(_logger: object, _method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = _indented(value) if name == "exception" else printable(value)
    return event


class _PrintableFormatter(logging.Formatter):
    """Formats what is logged without structlog."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message, and its traceback indented."""
        return _indented(super().format(record)).lstrip()


class _JsonFormatter(logging.Formatter):
    """Formats it like the other lines, with the name of who has logged it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one object."""
        said = {"event": record.getMessage(), "logger": record.name, "level": record.levelname.lower()}
        said["timestamp"] = datetime.fromtimestamp(record.created, UTC).isoformat().replace("+00:00", "Z")
        if record.exc_info:
            said["exception"] = self.formatException(record.exc_info)
        return json.dumps(said)


def _indented(text: str) -> str:
    return "\n".join(f"  {printable(line)}" for line in text.split("\n"))
