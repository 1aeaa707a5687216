"""The assignors of the server by name. Of those for consumer groups the first one is the default, as in Kafka."""

from __future__ import annotations

from typing import Final

from coordinator_server.group.assign.range import assign_ranges
from coordinator_server.group.assign.simple import assign_simply
from coordinator_server.group.assign.spec import Assignor
from coordinator_server.group.assign.uniform import assign_uniformly

ASSIGNORS: Final[dict[str, Assignor]] = {"uniform": assign_uniformly, "range": assign_ranges}

SIMPLE: Final = "simple"
SHARE_ASSIGNORS: Final[dict[str, Assignor]] = {SIMPLE: assign_simply}
"""The assignors of share groups."""
