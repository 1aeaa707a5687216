"""The assignors of the server, by name. The first one is the default, as in Kafka."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.assign.range import assign_ranges
from coordinator_server.group.assign.spec import Assignor
from coordinator_server.group.assign.uniform import assign_uniformly

ASSIGNORS: Final[dict[str, Assignor]] = {"uniform": assign_uniformly, "range": assign_ranges}
