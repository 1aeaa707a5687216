"""How figures grow with a size: the exponent of a power law, and a row of figures at several sizes with it.

1 is linear. What has a fixed cost beside looks flatter at small sizes. What is above 1 by more than the noise of a machine (about
0.1) is to be profiled.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def exponent(sizes: Sequence[float], values: Sequence[float], least: float = 0.0) -> float | None:
    """Return the slope of log(value) over log(size) by least squares; None if a value is not above ``least``."""
    if len(sizes) < 2 or min(values) <= least:
        return None
    xs, ys = [math.log(each) for each in sizes], [math.log(each) for each in values]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - mean_x) ** 2 for x in xs)


def cells(
    sizes: Sequence[float], values: Sequence[float], show: str, least: float = 0.0, base: Sequence[float] | None = None
) -> str:
    """Return the figures of a row at each size, and the exponent of what they have above ``base``.

    ``show`` is the format of a figure; one below 0 is unknown. The exponent is ``-`` where a figure is ``least`` or below: noise.
    """
    above = values if base is None else [value - each for value, each in zip(values, base, strict=True)]
    found = exponent(sizes, above, least)
    shown = " ".join(f"{format(each, show) if each >= 0 else '-':>8}" for each in values)
    return shown + (f"  ^{found:4.2f}" if found is not None else "      -")


def width(sizes: Sequence[float]) -> int:
    """Return the number of characters of ``cells``."""
    return 9 * len(sizes) + 6


def numbers(text: str) -> list[int]:
    return [int(each) for each in text.split(",")]
