"""The log and the jobs change files through ``log/storage.py`` alone: what goes past it no power loss of a test can show."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
PACKAGES = ("coordinator_server/log", "coordinator_server/pipeline")
OF_OS = frozenset(
    [
        "fdatasync",
        "fsync",
        "ftruncate",
        "link",
        "makedirs",
        "mkdir",
        "open",
        "pwrite",
        "remove",
        "removedirs",
        "rename",
        "renames",
        "replace",
        "rmdir",
        "symlink",
        "truncate",
        "unlink",
        "write",
    ]
)
OF_PATHS = frozenset(["hardlink_to", "mkdir", "rename", "rmdir", "symlink_to", "touch", "unlink", "write_bytes", "write_text"])
# Files that may, and why.
EXCEPTIONS = {
    "coordinator_server/log/storage.py": "the seam",
    "coordinator_server/log/day_files.py": "samples beside the log: a crash may lose the newest, and readers leave out a torn line",
    "coordinator_server/log/file_locks.py": "lock files, which are worth nothing after a power loss",
    "coordinator_server/log/opening.py": "the directory of a node, whose log is in a database",
    "coordinator_server/log/postgresql/job_log.py": "copies for one process, which go with it",
    "coordinator_server/log/postgresql/job_shard.py": "the same",
    "coordinator_server/log/postgresql/moves.py": "the same: it writes there what goes to an object store",
    "coordinator_server/log/repair/overlay.py": "it opens for reading only",
    "coordinator_server/pipeline/job_lock.py": "lock files",
    "coordinator_server/pipeline/files/kafka/files.py": "the lock file of a broker",
    "coordinator_server/pipeline/input/data_dir.py": "a directory is opened to reach a socket in it",
    "coordinator_server/pipeline/history/table_writer.py": "pyarrow writes the tables, and ``history/output.py`` syncs them",
    "coordinator_server/pipeline/index/database.py": "the index, which is made again from the log",
    "coordinator_server/pipeline/table.py": "a table, which is made again from the log",
    "coordinator_server/pipeline/locations.py": "a temporary copy of what is in a store",
    "coordinator_server/pipeline/compact/last_places.py": "temporary files without a name",
    "coordinator_server/pipeline/layer/checkpoint.py": "temporary files without a name",
    "coordinator_server/pipeline/spark/class_archive.py": "a cache",
    "coordinator_server/pipeline/spark/java.py": "a script for one run",
    "coordinator_server/pipeline/spark/session.py": "the log of Spark",
}


def changes(path: Path) -> Iterator[str]:
    """The calls in a file that change files, by name and line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            function = ast.unparse(node.func)
            owner, _, name = function.rpartition(".")
            if (
                owner in ("shutil", "tempfile")
                or (owner == "os" and name in OF_OS)
                or (name in OF_PATHS and owner != "os" and not owner.endswith("storage"))
                or (name == "TemporaryFile")
                or (name == "open" and is_for_writing(node))
            ):
                yield f"line {node.lineno}: {function}"


def is_for_writing(call: ast.Call) -> bool:
    modes = [each.value for each in (*call.args, *(keyword.value for keyword in call.keywords)) if isinstance(each, ast.Constant)]
    return any(isinstance(mode, str) and len(mode) <= 3 and set(mode) & set("wax+") for mode in modes)


def test_files_are_changed_behind_the_seam() -> None:
    """Nowhere else, but in the files that are named here; each of them does."""
    found = {
        str(path.relative_to(ROOT)): calls
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if (calls := list(changes(path)))
    }

    assert {path: calls for path, calls in found.items() if path not in EXCEPTIONS} == {}
    assert EXCEPTIONS.keys() - found.keys() == set()
