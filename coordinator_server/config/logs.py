"""The settings of a server's own log, which its processes share, as they share its stderr."""

from __future__ import annotations

from typing import Literal, NamedTuple

LogFormat = Literal["auto", "console", "json"]


class Logs(NamedTuple):
    """The least important level that is written, and the form."""

    level: str = "warning"
    format: LogFormat = "auto"
