"""Plugs the toy kinds into every Python process that has this directory on its PYTHONPATH:
servers, their loops, and what these start.
"""

import sys
from pathlib import Path

_ROOT = str(Path(__file__).resolve().parents[3])
_HAS_ROOT = _ROOT in sys.path
if not _HAS_ROOT:
    sys.path.insert(0, _ROOT)

from tests.leases import rows as leases  # noqa: E402 - it is found there
from tests.toy import rows as toys  # noqa: E402 - it is found there

toys.plug()
leases.plug()
if not _HAS_ROOT:
    # What this process finds in its current directory is as without the toys.
    sys.path.remove(_ROOT)
