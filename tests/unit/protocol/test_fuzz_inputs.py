"""The kept inputs of the fuzzer, without the fuzzer."""

from __future__ import annotations

import pytest

from tests.fuzz import corpus, targets


def test_kept_inputs_do_what_they_should() -> None:
    """What once failed does not fail again, and what reaches far still reaches."""
    inputs = corpus.kept()

    assert inputs
    for data in inputs:
        targets.run(data)


def test_seeds_are_read_by_the_target_they_name() -> None:
    """Two targets with one name would leave the second without a seed."""
    assert len({targets.selector(name) for name in targets.TARGETS}) == len(targets.TARGETS)
    for data in targets.seeds():
        targets.run(data)


def test_a_target_notices_what_should_not_happen(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is not ours, and a value that cannot be written again, both end the run."""
    monkeypatch.setattr(targets, "decode_request_header", lambda data: (None, len(data) + 1))

    with pytest.raises(AssertionError):
        targets.run(targets.selector("request header") + b"x")
