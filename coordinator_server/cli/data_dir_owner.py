"""The owner of a data directory: commands that root runs leave no files there that the server cannot read or replace."""

from __future__ import annotations

import os
import pwd
import sys
import tempfile
from pathlib import Path
from typing import Final

from coordinator_server.cli.output import note
from coordinator_server.log.errors import WrongDirectory

# They seal, and recover the log of a server that was killed. Others write to new directories, or to a broker's.
COMMANDS_OF_OWNER: Final = frozenset(
    {
        "backup",
        "compact",
        "replay",
        "verify",
        "history",
        "index",
        "pipeline",
        "groups",
        "topics",
        "transactions",
        "share",
        "users",
        "quotas",
        "shards",
    }
)
_CACHES: Final = "XDG_CACHE_HOME"


def become_owner(data_dir: object) -> None:
    """Let a process of root go on as the owner of a local data directory. Raises WrongDirectory if the owner cannot work there."""
    if os.geteuid() != 0 or not isinstance(data_dir, Path) or not data_dir.is_dir():
        return
    found = data_dir.stat()
    if found.st_uid == 0:
        return
    name, home = _known(found.st_uid)
    try:
        os.setgroups([])
        os.setgid(found.st_gid)
        os.setuid(found.st_uid)
    except OSError as error:
        raise WrongDirectory(f"{data_dir} belongs to {name}, and root cannot become that user: {error.strerror}") from error
    # Spark has its caches there.
    os.environ["HOME"] = home
    os.environ.pop(_CACHES, None)
    for path in (sys.executable, os.__file__, __file__):
        if not os.access(path, os.R_OK):
            raise WrongDirectory(f"{data_dir} belongs to {name}, who cannot read {path}: install the program where that user can")
    if not os.access(data_dir, os.R_OK | os.W_OK | os.X_OK):
        raise WrongDirectory(
            f"{data_dir} belongs to {name}, who cannot reach it from here; with systemd's DynamicUser, "
            "run the command as the service does: deploy/coordinator-server.service says how"
        )
    note(f"running as {name}, the owner of {data_dir}")


def give_to_owner(directory: Path, owner_of: Path) -> None:
    """Give what root has made below a directory to the owner of ``owner_of``."""
    if os.geteuid() != 0 or not directory.is_dir() or not owner_of.is_dir():
        return
    owner = owner_of.stat()
    if owner.st_uid == 0:
        return
    for path in [directory, *directory.rglob("*")]:
        if path.lstat().st_uid == 0:
            os.lchown(path, owner.st_uid, owner.st_gid)


def _known(uid: int) -> tuple[str, str]:
    """Return a user's name and home directory."""
    try:
        entry = pwd.getpwuid(uid)
    except KeyError:
        return f"user {uid}", tempfile.gettempdir()
    return f"user {entry.pw_name}", entry.pw_dir
