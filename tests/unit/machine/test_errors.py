"""The texts of errors: a string of Kafka's protocol has at most 32,767 bytes."""

from __future__ import annotations

import pytest

from coordinator_server.machine.errors import CoordinatorError, fitting
from protocol.error_codes import ErrorCode

MOST = 32_767


@pytest.mark.parametrize("character", ["x", "ü", "€", "🐘"])
def test_a_text_is_cut_where_it_no_longer_fits(character: str) -> None:
    """Between two characters, whatever they take, and not before."""
    size = len(character.encode())
    most = MOST // size

    assert fitting(character * most) == character * most
    for more in (1, 2, MOST, 5 * MOST):
        assert fitting(character * (most + more)) == character * most


def test_the_message_of_an_error_fits_into_a_response() -> None:
    error = CoordinatorError(ErrorCode.INVALID_REQUEST, "x" * 40_000)

    assert error.message == "x" * MOST
    assert CoordinatorError(ErrorCode.INVALID_REQUEST).message is None
