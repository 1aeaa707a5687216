"""Whether a play notices that a rule of the server is broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

MOST_SEEDS = 200


def must_be_seen(run: Callable[[int], list[str]], words: str, first: int = 0, most: int = MOST_SEEDS) -> None:
    """Fail unless one of so many seeds, from the first one on, has a fault with these words."""
    for seed in range(first, first + most):
        if any(words in fault for fault in run(seed)):
            return
    pytest.fail(f"nobody noticed: {words}")
