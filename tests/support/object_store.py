"""An S3-compatible server on loopback (moto's), for one test run."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pytest
from pyarrow import fs


class ObjectStore:
    """One bucket. ``url`` is what a user would write, query included."""

    def __init__(self, host: str, port: int) -> None:
        self.endpoint = f"http://{host}:{port}"
        self.store = fs.S3FileSystem(
            access_key="key", secret_key="secret", endpoint_override=f"{host}:{port}", scheme="http", allow_bucket_creation=True
        )
        self._query = f"?endpoint_override={host}:{port}&scheme=http&region=us-east-1"

    def url(self, path: str) -> str:
        return f"s3://{path}{self._query}"

    def objects(self, path: str) -> dict[str, bytes]:
        """Everything below a path, by the names below it."""
        found = self.store.get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
        return {each.path.removeprefix(f"{path}/"): self.read(each.path) for each in found if each.is_file}

    def put(self, path: str, objects: Mapping[str, bytes]) -> None:
        """Put what ``objects`` has returned below a path."""
        for name, content in objects.items():
            with self.store.open_output_stream(f"{path}/{name}") as file:
                file.write(content)

    def read(self, path: str) -> bytes:
        with self.store.open_input_stream(path) as file:
            content: bytes = file.read()
            return content


@contextmanager
def object_store(environment: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """A server with a bucket ``lake``; its credentials are in the environment."""
    # Takes a second, which processes that only collect the tests need not spend.
    from moto.server import ThreadedMotoServer

    environment.setenv("AWS_ACCESS_KEY_ID", "key")
    environment.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        found = ObjectStore(*server.get_host_and_port())
        found.store.create_dir("lake")
        yield found
    finally:
        server.stop()
