"""Keys in a file: read when it has changed, and what is said of files that are no keys. (test_http_request.py has URLs.)"""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import pytest

from coordinator_server.security.oauth.fetching import KeysNotFetched, fetch, path_of
from coordinator_server.security.oauth.key_set import MAX_BYTES
from tests.support.tokens import key_set

TLS = ssl.create_default_context()


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path) -> None:
    path = tmp_path / "my keys.json"
    url = path.as_uri()
    path.write_bytes(key_set("ES256"))
    first = fetch(url, TLS, None)
    assert fetch(url, TLS, first) is first

    other = path.with_suffix(".new")
    other.write_bytes(key_set("ES384"))
    os.utime(other, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    other.rename(path)
    second = fetch(url, TLS, first)
    assert [second.keys.find("ES256", None) is None, second.keys.find("ES384", None) is None] == [True, False]


@pytest.mark.parametrize(("data", "why"), [(None, "cannot be read: No such file"), (b"{}", "has no list of keys")])
def test_other_files_are_refused(tmp_path: Path, data: bytes | None, why: str) -> None:
    path = tmp_path / "keys.json"
    if data is not None:
        path.write_bytes(data)

    with pytest.raises(KeysNotFetched, match=why):
        fetch(path.as_uri(), TLS, None)


def test_a_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    with path.open("wb") as file:
        file.truncate(1 << 40)

    with pytest.raises(KeysNotFetched, match=f"has more than {MAX_BYTES} bytes"):
        fetch(path.as_uri(), TLS, None)


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A pipe would block for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    with pytest.raises(KeysNotFetched, match="is not a file"):
        fetch(path.as_uri(), TLS, None)


def test_only_files_have_a_path() -> None:
    assert (path_of("file:///a%20b"), path_of("https://a.example/keys")) == (Path("/a b"), None)
