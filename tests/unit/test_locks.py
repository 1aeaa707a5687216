"""requirements/*.lock: what scripts/setup installs is pinned, hashed, and the same whichever set brings it."""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
EXTRAS, GROUPS = PROJECT["optional-dependencies"], SETTINGS["dependency-groups"]
ASKED_FOR: dict[str, list[str]] = {
    "build": GROUPS["build"],
    "run": PROJECT["dependencies"] + EXTRAS["page"],
    "spark": PROJECT["dependencies"] + EXTRAS["page"] + EXTRAS["spark"],
    "postgresql": PROJECT["dependencies"] + EXTRAS["postgresql"],
    "dev": PROJECT["dependencies"] + EXTRAS["page"] + EXTRAS["spark"] + EXTRAS["dev"],
    "tools": PROJECT["dependencies"] + EXTRAS["page"] + GROUPS["tools"],
    "browser": PROJECT["dependencies"] + EXTRAS["browser"],
    "release": GROUPS["release"],
    "site": GROUPS["site"],
    "failover": GROUPS["failover"],
    "fuzz": PROJECT["dependencies"] + EXTRAS["fuzz"],
    "mutation": PROJECT["dependencies"] + EXTRAS["mutation"],
}
PIN = re.compile(r"([a-z0-9-]+)(\[[a-z0-9,-]+\])?==(\S+)( ; .*)?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def packages(lock: str) -> dict[str, tuple[str, frozenset[str]]]:
    """Version and hashes by name. A line that is neither pin, hash nor comment is an error."""
    text = (ROOT / "requirements" / f"{lock}.lock").read_text()
    pins = {}
    for entry in re.sub(r"^ +#.*\n", "", text, flags=re.MULTILINE).replace(" \\\n", "\n").strip().split("\n"):
        if pin := PIN.fullmatch(entry):
            hashes: set[str] = set()
            pins[pin[1]] = pin[3], hashes
        else:
            assert HASH.fullmatch(entry.strip()), f"{lock}.lock: {entry}"
            hashes.add(entry.strip())
    return {name: (version, frozenset(hashes)) for name, (version, hashes) in pins.items()}


@pytest.mark.parametrize("lock", ASKED_FOR)
def test_a_lock_holds_all_that_its_set_asks_for(lock: str) -> None:
    """By version and by the hash of every file: pip takes nothing else with --require-hashes."""
    pinned = packages(lock)

    assert {re.split(r"[^A-Za-z0-9-]", name)[0] for name in ASKED_FOR[lock]} <= set(pinned)
    assert all(hashes for _, hashes in pinned.values())


def test_a_package_has_one_version_whichever_set_brings_it() -> None:
    """The tests run with dev: what run and spark bring is what was tested, and the wheel is compiled with the mypy that checks."""
    dev = packages("dev")

    for lock in ASKED_FOR:
        for name, pinned in packages(lock).items():
            assert dev.get(name, pinned) == pinned, f"{name} in {lock}.lock and dev.lock"


def test_a_pin_names_the_extras_that_other_packages_ask_for() -> None:
    """pip looks for `coverage[toml]` apart from `coverage`, and takes the newest one, which has no hash,
    if only the latter is pinned.
    """
    text = (ROOT / "requirements" / "dev.lock").read_text()
    pinned = {pin[1]: set((pin[2] or "[]")[1:-1].split(",")) for pin in re.finditer(f"^{PIN.pattern}", text, re.MULTILINE)}
    wanted = [
        (need[1], extra)
        for name in pinned
        if (package := next(iter(metadata.distributions(name=name)), None)) is not None
        for line in package.requires or ()
        if "extra ==" not in line and (need := re.match(r"([A-Za-z0-9_.-]+)\[([a-z0-9,-]+)\]", line)) and need[1] in pinned
        for extra in need[2].split(",")
    ]

    assert ("coverage", "toml") in wanted
    assert [(name, extra) for name, extra in wanted if extra not in pinned[name]] == []


def test_every_lock_is_covered() -> None:
    """A lock that is added comes into the table above."""
    assert {path.stem for path in (ROOT / "requirements").iterdir()} == set(ASKED_FOR)
