"""What a release brings along: a bill of materials (CycloneDX) of an environment that has it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
PROJECT: Final = "coordinator-server"
# What makes the environment, and is no part of the release.
_OF_PIP: Final = frozenset({"pip", "setuptools"})


class Incomplete(Exception):
    """The bill is not one of the release; the message says why."""


def bill_of_materials(python: Path, version: str, directory: Path) -> Path:
    """Write the bill of what the environment of an interpreter has. Return its path. Raises Incomplete."""
    path = directory / f"{PROJECT.replace('-', '_')}-{version}.cdx.json"
    command = [str(Path(sys.executable).with_name("cyclonedx-py")), "environment", "--output-reproducible", "--of", "JSON"]
    done = subprocess.run(
        [*command, "--pyproject", str(ROOT / "pyproject.toml"), str(python)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Incomplete(f"cyclonedx-py ended with {done.returncode}\n{done.stderr}")
    path.write_text(json.dumps(settled(json.loads(done.stdout), version), indent=1) + "\n")
    return path


def settled(bill: dict[str, Any], version: str) -> dict[str, Any]:
    """Return a bill of the release alone: with its version, which pyproject.toml does not say, and without what pip needs."""
    main = bill["metadata"]["component"]
    main["version"], main["purl"] = version, f"pkg:pypi/{PROJECT}@{version}"
    dropped = {each["bom-ref"] for each in bill["components"] if each["name"] in _OF_PIP | {PROJECT}}
    bill["components"] = [each for each in bill["components"] if each["bom-ref"] not in dropped]
    check(bill)
    refs = {name_of(each): each["bom-ref"] for each in bill["components"]}
    dependencies = [each for each in bill["dependencies"] if each["ref"] not in dropped | {main["bom-ref"]}]
    own = {"ref": main["bom-ref"], "dependsOn": sorted(refs[name] for name in dependencies_of_the_project())}
    bill["dependencies"] = [own, *dependencies]
    return bill


def check(bill: Mapping[str, Any]) -> None:
    """Raise Incomplete if a direct dependency is missing, or a component has no version."""
    if missing := dependencies_of_the_project() - {name_of(each) for each in bill["components"]}:
        raise Incomplete(f"the bill of materials lacks {', '.join(sorted(missing))}")
    if unknown := [each["name"] for each in bill["components"] if not each.get("version")]:
        raise Incomplete(f"the bill of materials has no version of {', '.join(unknown)}")


def name_of(component: Mapping[str, Any]) -> str:
    """Return the name of a component as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", str(component["name"])).lower()


def dependencies_of_the_project() -> set[str]:
    """Return the names of what the package itself asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {re.split(r"[\s<>=!~;\[]", each)[0] for each in project["dependencies"]}
