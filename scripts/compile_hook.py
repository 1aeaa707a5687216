"""Build hook: compiles the hot modules with mypyc into the wheel, from the same sources that run without a compiler.

Off unless asked for, by ``make wheel`` or by HATCH_BUILD_HOOK_ENABLE_CUSTOM=true; which modules is said in pyproject.toml. The
sources stay in the wheel beside what was made of them, for tracebacks and readers; Python imports the compiled ones.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GROUP = "coordinator_server"


class CompileHook(BuildHookInterface[Any]):
    """One library of all modules, so that calls between them are C calls."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and put the results into the wheel."""
        if version == "editable":
            return
        missing = missing_tool()
        if missing:
            self.app.abort(f"the compiled wheel needs {missing}")
        self._directory = Path(tempfile.mkdtemp(prefix="compile-"))
        for built in compile_modules(Path(self.root), self.config["modules"], self._directory):
            build_data["force_include"][str(built)] = str(built.relative_to(self._directory / "lib"))
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel has what was built."""
        if version != "editable":
            shutil.rmtree(self._directory, ignore_errors=True)


def missing_tool() -> str | None:
    """What is not here, and where it comes from."""
    compiler = os.environ.get("CC", "cc")
    if shutil.which(compiler.split()[0]) is None:
        return f"a C compiler, and {compiler} was not found: apt-get install gcc libc6-dev"
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        return "Python's headers, and Python.h was not found: apt-get install python3-dev"
    return None


def compile_modules(root: Path, modules: list[str], directory: Path) -> list[Path]:
    """Compile sources below ``root``; the extension modules, below ``directory``/lib as they are to be installed."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    os.chdir(root)  # mypyc names modules by their paths from here
    extensions = mypycify(
        ["--config-file=pyproject.toml", *modules],
        opt_level="2",
        debug_level="0",
        group_name=GROUP,
        target_dir=str(directory / "c"),
        # One C file of everything takes the compiler more than ten minutes, and calls are no faster.
        multi_file=True,
    )
    # All extensions share the list. A hidden function is called directly, not through a table that another library could change.
    extensions[0].extra_compile_args.append("-fvisibility=hidden")
    command = build_ext(Distribution({"name": GROUP, "ext_modules": extensions}))
    command.build_lib = str(directory / "lib")
    command.build_temp = str(directory / "objects")
    command.ensure_finalized()
    command.run()
    return [path for path in (directory / "lib").rglob("*") if path.is_file()]
