"""A data directory that is being filled: ``meta.properties`` says so until the last step, and no server starts on it before."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from coordinator_server.log.meta import NAME, begin_meta, begun_in
from coordinator_server.log.storage import Storage, remove_tree
from coordinator_server.pipeline.errors import CannotRun

# What an empty directory may have: the second is an attempt to say that filling it has begun.
_NOTHING: Final = frozenset({"lost+found", f"{NAME}.new"})


def begin_directory(data_dir: Path, begun: str, storage: Storage) -> None:
    """Make a directory, or clear what is left of ``begun``, and say in it that this has begun. CannotRun if it has other files."""
    names = [name for name in storage.list(str(data_dir)) if name not in _NOTHING]
    if begun_in(storage, str(data_dir)) == begun:
        # The mark that it has begun stays: this one may be interrupted, too.
        for name in names:
            if name != NAME:
                remove_tree(storage, f"{data_dir}/{name}")
    elif names:
        raise CannotRun(f"{data_dir} is not empty: a {begun} makes a new directory; move this one away first")
    storage.make_dir(str(data_dir))
    begin_meta(storage, str(data_dir), begun)
