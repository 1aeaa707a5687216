"""Error codes are Kafka's."""

from __future__ import annotations

from protocol.error_codes import ErrorCode
from tests.support.oracle import facts


def test_codes_names_and_retriability_are_kafkas() -> None:
    """All of them, and no others."""
    ours = {(error.value, error.name, error.is_retriable) for error in ErrorCode}

    assert ours == {(fact["code"], fact["name"], fact["retriable"]) for fact in facts("errors.jsonl")}
