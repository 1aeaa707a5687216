"""The examples of examples/testcontainers: built with their libraries, and their client parts tried with a process.

What they say to a container engine, nobody here tries: there is none.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from coordinator_server.testing import Coordinator
from protocol.messages.metadata import MetadataRequest
from tests.interop.programs import TESTCONTAINERS, example_with_container
from tests.interop.programs import TESTCONTAINERS_HOMES as HOMES
from tests.support.client import Client
from tests.support.ports import free_port
from tests.support.server import ROOT


def test_the_client_part_works_with_a_process(client: str) -> None:
    command = example_with_container(client)
    with Coordinator(topics={"orders": 6}) as coordinator:
        environment = {**os.environ, "COORDINATOR_SERVERS": coordinator.bootstrap_servers}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)

        assert done.stdout == "committed 42\n", done.stderr
        assert coordinator.committed("readers") == {("orders", 5): 42}


def test_the_containers_program_waits_for_its_address(tmp_path: Path) -> None:
    """And tells it to clients. It stands beside the server's command, as in the image."""
    (tmp_path / "coordinator-server").symlink_to(Path(sys.executable).with_name("coordinator-server"))
    program = Path(shutil.copy(ROOT / "deploy" / "serve-for-tests", tmp_path))
    port, address = free_port(), tmp_path / "address"
    process = subprocess.Popen(
        [program, f"--listen=127.0.0.1:{port}", "--override=topics=orders:6"],
        env={**os.environ, "ADDRESS": str(address)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"waiting for its address in {address}\n"
        address.write_text("outside.example:4711")
        assert json.loads(process.stdout.readline())["listeners"] == {"PLAINTEXT": "outside.example:4711"}
        with Client(("127.0.0.1", port)) as client:
            [broker] = client.call(MetadataRequest(topics=[]), 12).brokers  # type: ignore[attr-defined]
        assert (broker.host, broker.port) == ("outside.example", 4711)
    finally:
        process.kill()
        process.communicate()


def test_each_example_starts_the_images_program() -> None:
    program = "/opt/coordinator-server/bin/serve-for-tests"
    using = {path.parent.name for path in TESTCONTAINERS.glob("*/[cC]oordinator*") if program in path.read_text()}

    assert using == set(HOMES.values())
    assert "COPY deploy/serve-for-tests /opt/coordinator-server/bin/" in (ROOT / "deploy" / "Containerfile").read_text()
