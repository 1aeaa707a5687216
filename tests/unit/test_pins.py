"""What a release is made with has names that cannot change their meaning, or the release workflow refuses to run."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from scripts.check_pins import ROOT, loose
from scripts.pin_images import HUB, image_of, pin

COMMIT = "0123456789" * 4
DIGEST = "sha256:" + "01234567" * 8


def test_actions_are_commits() -> None:
    """Digests of images cannot be looked up without their registry: whoever makes a release pins them, as the message says."""
    assert all("scripts/pin_images.py" in each.action for each in loose())
    assert {each.name.partition(":")[0] for each in loose()} == {
        "docker.io/grafana/grafana",
        "docker.io/library/postgres",
        "docker.io/prom/prometheus",
        "python",
    }


def test_the_release_waits_for_the_pins() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]

    assert jobs["pins"]["steps"][-1]["run"] == "python3 scripts/check_pins.py"
    assert {name for name in jobs if "pins" not in _all_needs(jobs, name)} == set()


def _all_needs(jobs: dict[str, dict[str, object]], name: str) -> set[str]:
    return {name} | {each for need in _needs(jobs[name]) for each in _all_needs(jobs, need)}


def _needs(job: dict[str, object]) -> list[str]:
    needs = job.get("needs", [])
    return [needs] if isinstance(needs, str) else list(needs)  # type: ignore[call-overload]


def test_what_is_not_pinned_is_named(tmp_path: Path) -> None:
    """With its place. Own images and stages are no names of others."""
    workflows, deploy = tmp_path / ".github" / "workflows", tmp_path / "deploy"
    workflows.mkdir(parents=True)
    deploy.mkdir()
    (workflows / "ci.yml").write_text(f"steps:\n  - uses: a/b@v4\n  - uses: a/c@{COMMIT} # v4\n  - uses: a/d@main\n")
    (deploy / "compose.yaml").write_text(f"    image: coordinator-server\n    image: x/y:1\n    image: x/z:1@{DIGEST}\n")
    (deploy / "Containerfile").write_text(f"FROM python:3 AS build\nFROM p@{DIGEST} AS base\nFROM build AS server\n")

    assert [(each.place, each.name) for each in loose(tmp_path)] == [
        (".github/workflows/ci.yml:2", "a/b@v4"),
        (".github/workflows/ci.yml:4", "a/d@main"),
        ("deploy/compose.yaml:2", "x/y:1"),
        ("deploy/Containerfile:1", "python:3"),
    ]


class Registry(BaseHTTPRequestHandler):
    """Has one image, for whoever has asked for a token."""

    CONTENT = json.dumps({"manifests": []}).encode()

    def do_GET(self) -> None:
        host, asked = self.headers["Host"], urlsplit(self.path)
        if asked.path == "/token" and parse_qs(asked.query) == {"service": [host], "scope": ["repository:library/python:pull"]}:
            self._answer(200, b'{"token": "for-everybody"}')
        elif self.headers.get("Authorization") != "Bearer for-everybody":
            self._answer(401, b"", f'Bearer realm="http://{host}/token",service="{host}",scope="repository:library/python:pull"')
        elif self.path == "/v2/library/python/manifests/3.11-slim":
            assert "image.index" in self.headers["Accept"].split(",")[0]
            self._answer(200, self.CONTENT)
        else:
            self._answer(404, b"")

    def _answer(self, status: int, content: bytes, login: str | None = None) -> None:
        self.send_response(status)
        if login is not None:
            self.send_header("WWW-Authenticate", login)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the test says what went wrong."""


def test_one_command_pins_the_images(tmp_path: Path) -> None:
    """To the bytes that the registry sends; again, to what the tag means then. Without one of them no file is changed."""
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    containerfile = tmp_path / "deploy" / "Containerfile"
    containerfile.parent.mkdir()
    containerfile.write_text("FROM python:3.11-slim AS build\nFROM build\nFROM python:3.11-slim AS base\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        registries = {HUB: f"http://127.0.0.1:{server.server_port}"}
        try:
            pin(tmp_path, registries)
            once = containerfile.read_text()
            pin(tmp_path, registries)
            again = containerfile.read_text()
            (tmp_path / "deploy" / "compose.yaml").write_text("    image: docker.io/library/nobody:1\n")
            with pytest.raises(OSError, match="nobody:1: HTTP Error 404"):
                pin(tmp_path, registries)
        finally:
            server.shutdown()

    pinned = f"python:3.11-slim@sha256:{hashlib.sha256(Registry.CONTENT).hexdigest()}"
    assert once == again == containerfile.read_text() == f"FROM {pinned} AS build\nFROM build\nFROM {pinned} AS base\n"
    assert [each.name for each in loose(tmp_path)] == ["docker.io/library/nobody:1"]


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("python", (HUB, "library/python", "latest")),
        ("grafana/grafana:12.1.0", (HUB, "grafana/grafana", "12.1.0")),
        ("docker.io/library/postgres:17@sha256:00", (HUB, "library/postgres", "17")),
        ("quay.io/a/b:1", ("quay.io", "a/b", "1")),
        ("localhost/b", ("localhost", "b", "latest")),
    ],
)
def test_names_are_read_as_engines_read_them(name: str, where: tuple[str, str, str]) -> None:
    assert image_of(name)[1:] == where
