"""The assignors of the server, by name. The first one is the default, as in Kafka."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.assign.range import assign_ranges
from coordinator_server.group.assign.spec import Assignor

ASSIGNORS: Final[dict[str, Assignor]] = {"range": assign_ranges}
