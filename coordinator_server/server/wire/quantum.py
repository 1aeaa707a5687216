"""The work of one pass over a connection's requests. It is counted and not measured: decision 58.

A pass has a number of small requests, and a number of units, which handlers and the API's row charge for what is not small
(``Connection.use_up``).
"""

from __future__ import annotations

from typing import Final

REQUESTS_PER_PASS: Final = 256
QUANTUM: Final = 1 << 18
"""The units of one pass: about 2 ms."""
EXPENSIVE: Final = QUANTUM // 4
"""The next pass of a connection that used more is a step (``turns.py``)."""
UNITS_PER_US: Final = QUANTUM // 2_000
HEARTBEAT_UNITS: Final = 200 * UNITS_PER_US
"""The work of a heartbeat of the newer protocols that is not the last one again: a member joins, for example."""
