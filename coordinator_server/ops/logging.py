"""Configuration of logs, which go to stderr: readable text on a terminal, otherwise one JSON object per line."""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog

LogFormat = Literal["auto", "console", "json"]
LEVELS = ("debug", "info", "warning", "error")


def configure(level: str, log_format: LogFormat, loop: int | None = None) -> None:
    """Configure the process's logging. Call it once. Every line has the number ``loop``, because several loops share one log."""
    is_console = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    renderers: list[structlog.typing.Processor]
    if is_console:
        renderers = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
    else:
        renderers = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]

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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
