"""The processes that answer HTTP: without their properties there are none."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from coordinator_server.config.load import load
from coordinator_server.config.logs import Logs
from coordinator_server.server import http_process
from coordinator_server.server.errors import StartError
from coordinator_server.server.http_process import HttpProcesses


def test_without_listeners_nothing_starts_and_nothing_is_stopped(tmp_path: Path) -> None:
    processes = HttpProcesses(load({}), tmp_path, Logs())

    processes.start()
    processes.stop()

    assert (processes._processes, processes.page) == ([], None)


def test_a_page_without_its_packages_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything listens."""
    monkeypatch.setattr(http_process, "find_spec", lambda name: None if name == "uvicorn" else find_spec(name))
    monkeypatch.setattr(http_process, "listening", lambda *_: pytest.fail("it listens"))

    with pytest.raises(StartError, match=r"page.listener: the page needs uvicorn: pip install 'coordinator-server\[page\]'"):
        HttpProcesses(load({"page.listener": "127.0.0.1:0"}), tmp_path, Logs()).start()
