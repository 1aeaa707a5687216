"""Many small cases in few tests: what pytest and xdist do for a test takes longer than most cases of a codec."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

F = TypeVar("F", bound=Callable[..., None])


def in_batches(names: str, cases: Iterable[Any], tests: int = 8) -> Callable[[F], F]:
    """``parametrize`` with so many tests at most, each of which runs some of the cases. A failure names its case in a note.

    ``names`` as in ``parametrize``: several, with a comma between, stand for cases that are tuples.
    """
    arguments = [name.strip() for name in names.split(",")]
    rows = [case if len(arguments) > 1 else (case,) for case in cases]
    size = max(1, -(-len(rows) // tests))
    batches = [rows[start : start + size] for start in range(0, len(rows), size)]

    def decorate(test: F) -> F:
        def run(batch: list[tuple[Any, ...]], **fixtures: Any) -> None:
            for row in batch:
                case = dict(zip(arguments, row, strict=True))
                try:
                    test(**case, **fixtures)
                except BaseException as failure:
                    failure.add_note(f"case: {', '.join(f'{name}={value!r}' for name, value in case.items())}")
                    raise

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        given = inspect.signature(test).parameters
        fixtures = [each for name, each in given.items() if name not in arguments]
        batch = inspect.Parameter("batch", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = inspect.Signature([batch, *fixtures])  # type: ignore[attr-defined]
        run.pytestmark = list(getattr(test, "pytestmark", []))  # type: ignore[attr-defined]
        marked: F = pytest.mark.parametrize("batch", batches, ids=[_id(batch) for batch in batches])(run)
        return marked

    return decorate


def _id(batch: list[tuple[Any, ...]]) -> str:
    """The first case and the last."""
    return " to ".join(dict.fromkeys("-".join(map(str, row)) for row in (batch[0], batch[-1])))
