"""``login.key``: a secret of the data directory that is not in its log, which administrators may fetch.

What the server says of users that do not exist is derived from it (``security/sasl/scram.py``), so it is the same for all loops and
after every restart. It is written when a listener with SASL starts for the first time. Backups do not have it: a restored directory
gets a new one.
"""

from __future__ import annotations

from typing import Final

from coordinator_server.log.errors import LogError
from coordinator_server.log.storage import Storage, read_file, replace_file

NAME: Final = "login.key"
KEY_BYTES: Final = 32


def open_login_key(storage: Storage, data_dir: str) -> bytes:
    """Return the directory's key, and make one if it has none. The caller has the directory's lock. Raises LogError.

    An existing file is durable: a start syncs the names in the directory (``meta.py``).
    """
    path = f"{data_dir}/{NAME}"
    if storage.exists(path):
        return read_login_key(storage, data_dir)
    key = storage.random(KEY_BYTES)
    replace_file(storage, path, key)
    return key


def read_login_key(storage: Storage, data_dir: str) -> bytes:
    """Return the key of a directory that has one. Raises LogError."""
    key = read_file(storage, f"{data_dir}/{NAME}")
    if len(key) != KEY_BYTES:
        raise LogError(f"{data_dir}/{NAME} has {len(key)} bytes, not {KEY_BYTES}: remove it, and the next start makes another")
    return key
