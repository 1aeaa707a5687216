"""The names of the assignors that a life can be played by. Declaring options must not import the assignors."""

from __future__ import annotations

from typing import Final

NAMES: Final = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform", "server-range")
