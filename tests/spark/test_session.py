"""The local Spark session: who else on the machine can use it."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

from coordinator_server.pipeline.spark.session import session


def test_a_local_session_asks_for_authentication(spark: Any) -> None:
    """Whoever connects to its ports has to know a secret, which no command line shows."""
    context = spark.sparkContext
    command = Path(f"/proc/{context._gateway.proc.pid}/cmdline").read_text()

    assert context.getConf().get("spark.authenticate") == "true"
    assert "spark.master=local" in command
    assert "secret" not in command
    assert spark.range(100).repartition(3).count() == 100


def test_a_local_session_listens_on_loopback_alone(spark: Any) -> None:
    """The ports of the driver and of its block manager."""
    process = Path(f"/proc/{spark.sparkContext._gateway.proc.pid}")
    rows = [line.split() for line in (process / "net" / "tcp6").read_text().splitlines()[1:]]
    own = {str(each.readlink()) for each in (process / "fd").iterdir()}
    listening = [row[1].partition(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in own]

    assert len(listening) >= 2
    assert set(listening) == {"0000000000000000FFFF00000100007F"}


def test_a_thread_that_has_never_used_the_session_finds_it(spark: Any) -> None:
    """What is active is so for a thread of the JVM: a second context would be refused."""
    found: list[Any] = []

    def look() -> None:
        with session() as present:
            found.append(present.sparkContext)

    thread = Thread(target=look)
    thread.start()
    thread.join()

    assert found == [spark.sparkContext]
