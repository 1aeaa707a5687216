"""The work of one pass over a connection's requests, in units. It is counted and not measured: docs/decisions/58.

Bytes of requests and of answers count, and what handlers and the API's row charge (``Connection.use_up``).
"""

from __future__ import annotations

from typing import Final

QUANTUM: Final = 1 << 18
"""The units of one pass: about 2 ms for the usual requests."""
LEFT_OF_CHEAP: Final = QUANTUM * 3 // 4
"""A pass that leaves less is expensive: the next pass of its connection is a step (``turns.py``)."""
UNITS_PER_US: Final = QUANTUM // 2_000
REQUEST_UNITS: Final = 256
UNITS_PER_ANSWER_BYTE: Final = 2
