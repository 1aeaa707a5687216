"""Build a release and check it: source distribution, pure wheel and compiled wheel, into dist/.

The wheels are built from the unpacked source distribution, so that it is known to have all that they need.
What no C compiler has written is built twice, with --twice the compiled wheels as well, and has to have the same bytes.
Each of them is installed alone into an environment of its own, where it has to tell its version, and
to keep a commit through ``kill -9``. The source distribution has to pass unit tests of its own, too.
Beside them is a bill of materials (CycloneDX): what the pure wheel brings, as it was installed.
Progress goes to stderr; stdout lists every file with its hash and size, the same on every machine but for
what a C compiler wrote. Exit code 1: something is wrong with the release; 2: with how it was asked for.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from packaging.metadata import InvalidMetadata, Metadata

from scripts.bill_of_materials import Incomplete, bill_of_materials

ROOT = Path(__file__).resolve().parent.parent
NAME = "coordinator_server"
LICENSE = "Apache-2.0"
HEADING = re.compile(r"^## (?P<version>\S+) - (?P<when>unreleased|\d{4}-\d\d-\d\d)$")
# Some of each layer, in a few seconds.
TESTS = ("tests/unit/test_build.py", "tests/unit/machine", "tests/unit/group", "tests/unit/offsets", "tests/unit/server")
# What an environment needs in which a compiled wheel is built.
LOCKS = tuple([ROOT / "requirements" / f"{name}.lock" for name in ("build", "tools", "run")])
# What strangers look for. What else has to be there, git knows.
IN_SDIST = frozenset(
    {"CHANGELOG.md", "LICENSE", "Makefile", "PKG-INFO", "README.md", "SECURITY.md", "pyproject.toml", "requirements/dev.lock"}
    | {"scripts/setup", "tests/unit/test_build.py"}
)
PURE = "plain Python"
COMPILED = {"HATCH_BUILD_HOOK_ENABLE_CUSTOM": "true"}
FORBIDDEN = frozenset({".ci", ".git", ".venv", "__pycache__"})
FORBIDDEN_ENDS = ("_cache", ".pyc", ".hypothesis")

Contents = Mapping[str, bytes]


class Wrong(Exception):
    """The release is not fit to be given away; the message says why."""


class Unready(Exception):
    """The tree is not one to release from; the message says why."""


class Artefact(NamedTuple):
    """A file that is given away. ``kind`` is what ``--version`` says of it once it is installed."""

    path: Path
    kind: str
    is_source: bool = False
    python: str = sys.executable
    """The interpreter that it is checked under."""


def main(argv: list[str] | None = None) -> int:
    """Run, and say how it went."""
    parser = argparse.ArgumentParser(prog="make release ARGS='…'", description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--allow-dirty", action="store_true", help="release from a tree with changes, or without git, to try it")
    parser.add_argument(
        "--no-compiled", action="store_true", help="leave out the compiled wheel, which takes minutes and a C compiler"
    )
    parser.add_argument(
        "--twice",
        action="store_true",
        help="build compiled wheels a second time, elsewhere, and compare the bytes: as long again",
    )
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="PYTHON",
        help="also build and check a compiled wheel for this interpreter, e.g. python3.13; may be repeated",
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "dist", metavar="DIR", help="where the files go once all is well (dist)"
    )
    options = parser.parse_args(argv)
    try:
        pythons = [] if options.no_compiled else [sys.executable, *map(interpreter, options.python)]
        version = release(options.out, is_dirty_allowed=options.allow_dirty, pythons=pythons, is_all_twice=options.twice)
    except Unready as unready:
        print(f"release: {unready}", file=sys.stderr)
        return 2
    except (Wrong, Incomplete) as wrong:
        print(f"release: FAILED: {wrong}", file=sys.stderr)
        return 1
    print(f"release: {NAME} {version} is whole, in {options.out}", file=sys.stderr)
    return 0


def interpreter(name: str) -> str:
    """The path of an interpreter. Raises Unready if there is none of that name."""
    found = shutil.which(name)
    if found is None:
        raise Unready(f"--python {name}: there is no such program")
    return str(Path(found).resolve())


def release(out: Path, *, is_dirty_allowed: bool, pythons: Sequence[str], is_all_twice: bool = False) -> str:
    """Build, check, and put into ``out``, with a compiled wheel for each of ``pythons``. Returns the version."""
    if not is_dirty_allowed:
        check_tree(ROOT)
    version, when = check_version((ROOT / NAME / "__init__.py").read_text(), (ROOT / "CHANGELOG.md").read_text())
    print(f"release: version {version}, {when}", file=sys.stderr)
    with step("lint the Containerfile"):
        run([str(Path(sys.executable).with_name("hadolint")), str(ROOT / "deploy" / "Containerfile")], ROOT)
    os.environ.setdefault("SOURCE_DATE_EPOCH", time_of_commit(ROOT))
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        scratch, built = Path(name), []
        # Each is checked before the next is built: the compiled wheels take longest, and come last.
        for artefact in build(scratch, version, pythons, is_all_twice=is_all_twice):
            print_files(artefact.path)
            with step(f"install {artefact.path.name} alone, commit, kill, start, fetch"):
                environment = install(artefact, scratch)
                check_installed(environment, f"coordinator-server {version} ({artefact.kind})")
            if artefact.is_source:
                with step(f"unit tests of {artefact.path.name}"):
                    run_tests(environment, artefact.path, scratch / "tests")
            elif artefact.kind == PURE:
                with step("list what it brings"):
                    built.append(bill_of_materials(environment / "python", version, scratch))
            built.append(artefact.path)
        out.mkdir(parents=True, exist_ok=True)
        for path in built:
            shutil.copy(path, out)
    return version


def time_of_commit(root: Path) -> str:
    """What SOURCE_DATE_EPOCH is: seconds since 1970 of the commit, and hatchling's own time without git."""
    shown = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, text=True, check=False)
    return shown.stdout.strip() or "1580601600"


def check_same(first: Path, second: Path) -> None:
    """Two builds of the same have the same bytes. Raises Wrong, with the files in which they differ."""
    if first.read_bytes() != second.read_bytes():
        one, other = contents_of(first), contents_of(second)
        differing = [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
        raise Wrong(f"{first.name} has other bytes when it is built again: {some(differing) or 'the archive itself'}")


def check_tree(root: Path) -> None:
    """A release is what a commit has: no changes, no files that git does not know. Raises Unready."""
    status = subprocess.run(["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=False)
    if status.returncode:
        raise Unready(f"git does not know this tree ({status.stderr.strip()}); --allow-dirty releases it all the same")
    if changes := status.stdout.splitlines():
        shown = "".join(f"\n  {change}" for change in changes[:10])
        raise Unready(f"{len(changes)} files differ from the commit; --allow-dirty releases them all the same{shown}")


def check_version(source: str, changelog: str) -> tuple[str, str]:
    """The version of ``__init__.py``, and when the changelog says that it came out. Raises Wrong when it speaks of another one."""
    version = next(
        ast.literal_eval(line.partition("=")[2].strip()) for line in source.splitlines() if line.startswith("__version__")
    )
    top = next((line for line in changelog.splitlines() if line.startswith("## ")), "nothing")
    heading = HEADING.match(top)
    if heading is None:
        raise Wrong(f"CHANGELOG.md begins with {top!r}; '## {version} - unreleased' or a date in its place is expected")
    if heading["version"] != version:
        raise Wrong(f"CHANGELOG.md begins with {heading['version']}, {NAME}/__init__.py says {version}")
    return version, heading["when"]


def build(scratch: Path, version: str, pythons: Sequence[str], *, is_all_twice: bool) -> Iterator[Artefact]:
    """The source distribution, and the wheels that are made from it; what is in them is checked."""
    with step("build the source distribution, twice"):
        sdist = hatch(ROOT, "sdist", scratch / "sdist")
        check_same(sdist, hatch(ROOT, "sdist", scratch / "sdist-again"))
        sources = contents_of(sdist)
        check_sdist(sources, version, tracked(ROOT))
        shutil.unpack_archive(sdist, scratch)
    yield Artefact(sdist, PURE, is_source=True)
    unpacked = scratch / f"{NAME}-{version}"
    # Another place: no path of the sources is in what is built.
    shutil.unpack_archive(sdist, scratch / "elsewhere")
    elsewhere = scratch / "elsewhere" / unpacked.name
    with step("build the pure wheel from it, twice"):
        pure = hatch(unpacked, "wheel", scratch / "pure")
        check_same(pure, hatch(elsewhere, "wheel", scratch / "pure-again"))
        check_wheel(contents_of(pure), version, sources, compiled=())
    yield Artefact(pure, PURE)
    modules = hatch_targets(sources)["wheel"]["hooks"]["custom"]["modules"]
    for number, python in enumerate(pythons):
        with step(f"build the compiled wheel of {python} from it"):
            tools = sys.executable if python == sys.executable else with_tools(python, scratch / f"tools-{number}")
            compiled = hatch(unpacked, "wheel", scratch / f"compiled-{number}", tools, **COMPILED)
            if is_all_twice:
                check_same(compiled, hatch(elsewhere, "wheel", scratch / f"compiled-{number}-again", tools, **COMPILED))
            check_wheel(contents_of(compiled), version, sources, compiled=modules)
        yield Artefact(compiled, "compiled", python=python)


def with_tools(python: str, directory: Path) -> str:
    """A new environment of an interpreter, with what builds a compiled wheel; its own interpreter."""
    pip = new_environment(python, directory)
    # As in scripts/setup: the first lock has what the packages of the others are built with.
    for lock in LOCKS:
        run([*pip, "--no-build-isolation", "--use-pep517", "-r", str(lock)], directory)
    return pip[0]


def new_environment(python: str, directory: Path) -> list[str]:
    """Make an environment of an interpreter.

    Return the command, its own interpreter first, that installs what has a pinned hash.
    """
    run([python, "-m", "venv", str(directory)], directory.parent)
    return [str(directory / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "install", "--require-hashes"]


def hatch(source: Path, target: str, directory: Path, python: str = sys.executable, **environment: str) -> Path:
    """Build with the pinned tools of an environment, .venv unless told; what was built."""
    run([python, "-m", "hatchling", "build", "-t", target, "-d", str(directory)], source, **environment)
    [built] = directory.iterdir()
    return built


def tracked(root: Path) -> frozenset[str] | None:
    """What git would have in a commit of this tree, None without git."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(listing, cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        return None
    return frozenset(name for name in listed.stdout.split("\0") if name and (root / name).exists())


def hatch_targets(sources: Contents) -> dict[str, Any]:
    """What pyproject.toml says of the artefacts."""
    targets: dict[str, Any] = tomllib.loads(sources["pyproject.toml"].decode())["tool"]["hatch"]["build"]["targets"]
    return targets


def contents_of(path: Path) -> Contents:
    """The files of a wheel, or those of a source distribution without its one directory. Raises Wrong when it has none or two."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    top = f"{path.name.removesuffix('.tar.gz')}/"
    with tarfile.open(path) as archive:
        read = {member.name: file.read() for member in archive if (file := archive.extractfile(member)) is not None}
    if outside := [name for name in read if not name.startswith(top)]:
        raise Wrong(f"{path.name} has files outside of {top}: {some(outside)}")
    return {name.removeprefix(top): content for name, content in read.items()}


def check_sdist(contents: Contents, version: str, expected: frozenset[str] | None) -> None:
    """Its files are those of the tree, but for what pyproject.toml leaves out, and its metadata is sound."""
    check_names("the source distribution", contents, IN_SDIST)
    left_out = tuple(f"{directory}/" for directory in hatch_targets(contents)["sdist"]["exclude"])
    if expected is not None:
        wanted = {name for name in expected if not f"/{name}".startswith(left_out)} | {"PKG-INFO"}
        if wanted != set(contents):
            raise Wrong(f"the source distribution and the tree differ in {some(wanted ^ set(contents))}")
    check_metadata(contents["PKG-INFO"], version, contents["README.md"])


def check_wheel(contents: Contents, version: str, sources: Contents, compiled: Iterable[str]) -> None:
    """A wheel has both packages as the source distribution has them, its metadata, and an extension per module of ``compiled``."""
    info = f"{NAME}-{version}.dist-info"
    check_names("the wheel", contents, {f"{info}/METADATA", f"{info}/licenses/LICENSE", f"{info}/entry_points.txt"})
    packaged = {name for name in sources if name.startswith((f"{NAME}/", "protocol/"))}
    if differing := [name for name in packaged if contents.get(name) != sources[name]]:
        raise Wrong(f"the wheel and the source distribution differ in {some(differing)}")
    if contents[f"{info}/METADATA"] != sources["PKG-INFO"]:
        raise Wrong("the wheel has other metadata than the source distribution")
    others = {name for name in contents if name not in packaged and not name.startswith(f"{info}/")}
    extensions = {name.partition(".")[0] for name in others if name.endswith(".so")}
    if missing := {module.removesuffix(".py") for module in compiled} - extensions:
        raise Wrong(f"the wheel has no compiled {some(missing)}")
    if strange := [name for name in others if not (compiled and name.endswith(".so"))]:
        raise Wrong(f"the wheel has {some(strange)}")


def check_names(where: str, names: Iterable[str], needed: Iterable[str]) -> None:
    """What has to be there is, and nothing of a workshop: caches, environments, CI."""
    if missing := set(needed) - set(names):
        raise Wrong(f"{where} lacks {some(missing)}")
    if unwanted := [name for name in names if is_unwanted(name)]:
        raise Wrong(f"{where} has {some(unwanted)}")


def is_unwanted(name: str) -> bool:
    """Whether a file belongs to somebody's working tree and to no package."""
    return any(part in FORBIDDEN or part.endswith(FORBIDDEN_ENDS) for part in name.split("/"))


def check_metadata(metadata: bytes, version: str, readme: bytes) -> None:
    """By the rules that package indexes have (packaging.metadata), and by what this project is."""
    try:
        parsed = Metadata.from_email(metadata)
    except* InvalidMetadata as group:
        raise Wrong(f"the metadata is not valid: {'; '.join(str(error) for error in group.exceptions)}") from None
    found = (parsed.name, str(parsed.version), parsed.license_expression, parsed.license_files, parsed.description_content_type)
    expected = (NAME.replace("_", "-"), version, LICENSE, ["LICENSE"], "text/markdown")
    if found != expected:
        raise Wrong(f"the metadata says {found}, and should say {expected}")
    if (parsed.description or "").strip() != readme.decode().strip():
        raise Wrong("the description is not README.md")


def install(artefact: Artefact, scratch: Path) -> Path:
    """A new environment with the artefact in it, and nothing but what its metadata asks for; the directory of its programs."""
    environment = scratch / f"environment-{artefact.path.name}"
    pip = new_environment(artefact.python, environment)
    if artefact.is_source:
        run([*pip, "-r", str(ROOT / "requirements" / "build.lock")], scratch)
    # With hashes required, a dependency that is in the metadata and not in the lock is an error, and nothing else is installed.
    wanted = scratch / f"{artefact.path.name}.txt"
    pinned = (ROOT / "requirements" / "run.lock").read_text()
    wanted.write_text(f"{artefact.path.as_uri()} --hash=sha256:{digest(artefact.path.read_bytes())}\n{pinned}")
    run([*pip, "--no-build-isolation", "-r", str(wanted)], scratch)
    run([*pip[:3], "check"], scratch)
    return environment / "bin"


def check_installed(programs: Path, expected: str) -> None:
    """The command tells its version, and the server keeps what it acknowledged."""
    said = run([str(programs / "coordinator-server"), "--version"], programs).strip()
    if said != expected:
        raise Wrong(f"--version says {said!r}, and should say {expected!r}")
    shutil.copy(ROOT / "scripts" / "check_installed.py", programs)
    run([str(programs / "python"), "-I", "check_installed.py"], programs)


def run_tests(programs: Path, sdist: Path, directory: Path) -> None:
    """Some unit tests, in unpacked sources of their own. What they need beyond the package comes from .venv, without this tree."""
    shutil.unpack_archive(sdist, directory)
    [unpacked] = directory.iterdir()
    purelib = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    tools = run([sys.executable, *purelib], ROOT)
    # A directory that comes in by a .pth file gets no .pth files of its own read: this tree's editable installation stays out.
    Path(run([str(programs / "python"), *purelib], directory).strip(), "tools.pth").write_text(tools)
    run([str(programs / "python"), "-m", "pytest", "-p", "no:cacheprovider", *TESTS], unpacked)


def run(command: list[str], cwd: Path, **environment: str) -> str:
    """What a command prints. Raises Wrong, with all that it said, when it fails."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "HATCH_", "COORDINATOR_"))}
    done = subprocess.run(command, cwd=cwd, env=inherited | environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Wrong(f"{' '.join(command)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def print_files(path: Path) -> None:
    """An artefact and what is in it: hash, size, name, by name."""
    print(f"{digest(path.read_bytes())} {path.stat().st_size:>9} {path.name}")
    for name, content in sorted(contents_of(path).items()):
        print(f"  {digest(content)} {len(content):>9} {name}")


def digest(content: bytes) -> str:
    """SHA-256, as sha256sum prints it."""
    return hashlib.sha256(content).hexdigest()


def some(names: Iterable[str]) -> str:
    """The first few of them."""
    ordered = sorted(names)
    return ", ".join(ordered[:5]) + (f" and {len(ordered) - 5} more" if len(ordered) > 5 else "")


@contextmanager
def step(what: str) -> Iterator[None]:
    """Say what is done, and how long it took."""
    started = time.monotonic()
    print(f"release: {what} …", end="", file=sys.stderr, flush=True)
    try:
        yield
    except BaseException:
        print(file=sys.stderr)
        raise
    print(f" {time.monotonic() - started:.1f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
