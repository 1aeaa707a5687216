"""What these tests begin with."""

from __future__ import annotations

import pytest

from tests.support.runtime import ToyRuntime


@pytest.fixture
def toy() -> ToyRuntime:
    """A runtime with partition 0 loaded."""
    toy = ToyRuntime()
    toy.load()
    return toy
