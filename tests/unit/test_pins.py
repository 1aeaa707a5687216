"""What a release is made with has names that cannot change their meaning, or the release workflow refuses to run."""

from __future__ import annotations

from pathlib import Path

import yaml

from scripts.check_pins import ROOT, loose

COMMIT = "0123456789" * 4
DIGEST = "sha256:" + "01234567" * 8


def test_actions_are_commits() -> None:
    """Digests of images cannot be looked up without their registry: whoever makes a release pins them."""
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
