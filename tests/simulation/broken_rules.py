"""Whether a play notices that a rule of the server is broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest

MOST_SEEDS = 200


def must_be_seen(run: Callable[[int], list[str]], words: str, first: int = 0) -> None:
    """Fail unless some seed has a fault with these words. A seed that had one before is tried first."""
    for seed in [*range(first, MOST_SEEDS), *range(first)]:
        if any(words in fault for fault in run(seed)):
            return
    pytest.fail(f"nobody noticed: {words}")
