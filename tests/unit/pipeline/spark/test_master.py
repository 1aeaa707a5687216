"""A standalone master that does not answer is found before Spark starts."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from coordinator_server.pipeline.errors import CannotRun
from coordinator_server.pipeline.spark import master
from coordinator_server.pipeline.spark.master import check_master


@pytest.fixture
def listening() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def closed() -> Iterator[str]:
    """An address that is bound, so that no other test gets it, and does not listen."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{bound.getsockname()[1]}"


def test_a_master_that_does_not_listen_is_named_with_what_to_check(closed: str) -> None:
    with pytest.raises(CannotRun) as told:
        check_master(f"spark://{closed}")

    assert str(told.value) == (
        f"no Spark master answers at {closed} (Connection refused): check that it runs, and --master against the URL on its page;"
        " or use --engine python"
    )


def test_a_name_that_does_not_exist_is_told_like_that() -> None:
    with pytest.raises(CannotRun, match=r"at head\.invalid:7077 \(.*\): check"):
        check_master("spark://head.invalid:7077")


def test_a_host_that_drops_packets_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def drop(address: tuple[str, int], timeout: float) -> None:
        asked.append((address, timeout))
        raise TimeoutError("timed out")

    monkeypatch.setattr(socket, "create_connection", drop)

    with pytest.raises(CannotRun, match=r"\[::1\]:7077 \(timed out\)"):
        check_master("spark://[::1]:7077")
    assert asked == [(("::1", 7077), master.ANSWER_S)]


def test_one_of_several_masters_is_enough(closed: str, listening: str) -> None:
    """A cluster with standby masters names them all."""
    check_master(f"spark://{closed},{listening}")

    with pytest.raises(CannotRun, match=rf"{closed} \(.*\), {closed} \("):
        check_master(f"spark://{closed},{closed}")


@pytest.mark.parametrize(
    "name", ["local[2]", "yarn", "k8s://https://head:6443", "nonsense", "spark://head", "spark://:7", "spark://a:b"]
)
def test_other_masters_are_left_to_spark(name: str) -> None:
    check_master(name)
