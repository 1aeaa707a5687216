"""A shard of transactional ids over a log in memory."""

from __future__ import annotations

import pytest

from tests.support.transactions import TransactionLog


@pytest.fixture
def log() -> TransactionLog:
    return TransactionLog()
