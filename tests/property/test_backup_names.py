"""Manifests of backups, layers and histories, whatever names they have: nothing outside the target is opened, made or removed."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path, PurePosixPath

import msgspec
import pytest
from crc32c import crc32c
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator_server.log.errors import LogError
from coordinator_server.log.jobs import FileEntry
from coordinator_server.log.layers.layer import Manifest, open_layer
from coordinator_server.log.storage import LocalStorage
from coordinator_server.pipeline.backup.contents import MANIFEST, Backup
from coordinator_server.pipeline.errors import CannotRun, PipelineError
from coordinator_server.pipeline.files.restore import check_backup, restore
from coordinator_server.pipeline.history.output import Run, TableFile, open_locked

META = b"version=2\ncluster.id=x\nnode.id=1\n"
SHARD = "__consumer_offsets-0"
LAYER = f"{SHARD}/layer-{7:020d}"
PIECES = st.sampled_from(
    ["..", ".", "", "etc", "cron.d", "x", SHARD, f"layer-{7:020d}", f"{0:020d}.log", "meta.properties", "\0", "a\\..\\b",
     "backup.json", "__toy-0", "-0", "login.key", ".lock", "\u202e", "%2e%2e", "groups.data", "~", "a" * 300]
)  # fmt: skip
NAMES = st.one_of(
    st.lists(PIECES, min_size=1, max_size=5).map("/".join),
    st.lists(PIECES, min_size=1, max_size=5).map(lambda pieces: "/" + "/".join(pieces)),
    st.lists(PIECES, max_size=3).map(lambda pieces: "/".join([SHARD, *pieces])),
    st.text(max_size=20),
)


class Watched(LocalStorage):
    """Notes each path that is opened, made, removed or renamed outside of a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = str(directory)
        self.outside: list[str] = []

    def note(self, path: str) -> str:
        found = os.path.realpath(path)
        if found != self.directory and not found.startswith(self.directory + "/"):
            self.outside.append(path)
        return path

    def open(self, path, /, *, create=False):  # type: ignore[no-untyped-def]
        return super().open(self.note(path), create=create)

    def create(self, path, /):  # type: ignore[no-untyped-def]
        return super().create(self.note(path))

    def open_read_only(self, path, /):  # type: ignore[no-untyped-def]
        return super().open_read_only(self.note(path))

    def make_dir(self, path, /):  # type: ignore[no-untyped-def]
        super().make_dir(self.note(path))

    def remove(self, path, /):  # type: ignore[no-untyped-def]
        super().remove(self.note(path))

    def rename(self, old, new, /):  # type: ignore[no-untyped-def]
        super().rename(self.note(old), self.note(new))


def entry(name: str, data: bytes) -> FileEntry:
    return FileEntry(name, len(data), crc32c(data))


def backup_of(root: Path, names: list[str]) -> Path:
    """A backup with these names, and a file at each of them that can exist."""
    source = root / "in" / "backup"
    source.mkdir(parents=True)
    (source / "meta.properties").write_bytes(META)
    for name in names:
        # What a name leads to is below the root of the test, unless it is absolute.
        with suppress(OSError, ValueError):
            path = source / name
            if Path(os.path.normpath(path)).is_relative_to(root) and not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(b"content")
    files = (entry("meta.properties", META), *(entry(name, b"content") for name in names))
    with suppress(OSError):
        (source / MANIFEST).write_bytes(msgspec.json.encode(Backup("x", 1, "0", 0, {}, files, has_history=False)))
    return source


@settings(max_examples=150)
@given(st.lists(NAMES, min_size=1, max_size=3))
def test_a_restore_stays_in_its_directory(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    root = tmp_path_factory.mktemp("restored")
    source, target = backup_of(root, names), root / "out" / "data"
    storage = Watched(target.parent)
    before = set(root.rglob("*"))

    with suppress(CannotRun, LogError, OSError, ValueError):
        restore(source, target, storage)

    assert storage.outside == []
    assert {path for path in root.rglob("*") if not path.is_relative_to(target.parent)} == before


@pytest.mark.parametrize(
    "name",
    ["../../etc/cron.d/x", "/etc/cron.d/x", f"{SHARD}/../x", "x", "login.key", f"{LAYER}/../../x", f"{SHARD}/{0:020d}.marks", ""],
)
def test_a_backup_with_other_names_is_refused(tmp_path: Path, name: str) -> None:
    source = backup_of(tmp_path, [name])

    for run in (lambda: check_backup(source), lambda: restore(source, tmp_path / "data")):
        with pytest.raises(CannotRun, match=r"names the file .* not the manifest of a backup"):
            run()
    assert not (tmp_path / "data").exists()


def test_a_file_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    name = f"{SHARD}/{0:020d}.log"
    with pytest.raises(CannotRun, match="names a file twice"):
        check_backup(backup_of(tmp_path, [name, name]))


def test_a_link_out_of_a_backup_is_not_followed(tmp_path: Path) -> None:
    name = f"{SHARD}/{0:020d}.log"
    source = backup_of(tmp_path, [name])
    (tmp_path / "secret").write_bytes(b"content")
    (source / name).unlink()
    (source / name).symlink_to(tmp_path / "secret")

    with pytest.raises(LogError, match="a link to what is outside"):
        check_backup(source)


def test_a_backup_file_does_not_replace_a_file_or_a_link(tmp_path: Path) -> None:
    """Neither of a file nor of a link."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")

    for name in ("file", "link"):
        with pytest.raises(FileExistsError):
            LocalStorage().create(str(tmp_path / name))
    assert not (tmp_path / "elsewhere").exists()


@settings(max_examples=100)
@given(NAMES)
def test_a_layer_reads_its_own_files(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    root = tmp_path_factory.mktemp("layer")
    layer = root / LAYER
    layer.mkdir(parents=True)
    manifest = Manifest(SHARD, 7, 0, 0, "0" * 32, (), (), checkpoint=(FileEntry(name, 7, crc32c(b"content")),))
    try:
        (layer / "manifest.json").write_bytes(msgspec.json.encode(manifest))
    except (UnicodeError, ValueError):
        return
    storage = Watched(layer)

    with suppress(LogError, OSError, ValueError):
        opened = open_layer(root / SHARD, 7, storage)
        opened.verify_file(name)

    assert storage.outside == []


@settings(max_examples=100)
@given(NAMES, NAMES, NAMES)
def test_a_history_moves_its_own_files(tmp_path_factory: pytest.TempPathFactory, path: str, part: str, attempt: str) -> None:
    root = tmp_path_factory.mktemp("history")
    out = root / "deeper" / "out"
    (out / "_runs").mkdir(parents=True)
    try:
        run = msgspec.json.encode(Run(1, "x", attempt, {}, (TableFile("commits", path, 1, part),)))
    except UnicodeError:
        return
    (out / "_runs" / "000001.json").write_bytes(run)
    with suppress(OSError, ValueError):
        source = out / attempt / part / path
        if PurePosixPath(os.path.normpath(source)).is_relative_to(root):
            source.parent.mkdir(parents=True, exist_ok=True)
            source.write_bytes(b"content")
    storage = Watched(out)

    with suppress(CannotRun, PipelineError, OSError, ValueError), open_locked(storage, out, "x"):
        pass

    assert storage.outside == []
