"""Which log a command is about: a directory, or a store that nodes share. ``options.data_dir`` is its path either way."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from coordinator_server.log.store_paths import StoreName, is_store, split_path


class _Store(argparse.Action):
    """Names the store."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        namespace.data_dir = StoreName(values, namespace.store_password).path


class _Password(argparse.Action):
    """Takes the reference to the store's password, before the store is named or after it."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        namespace.store_password = values
        if namespace.data_dir is not None and is_store(namespace.data_dir):
            namespace.data_dir = split_path(namespace.data_dir)[0]._replace(password=values).path


def add_log_source(
    parser: argparse.ArgumentParser, directory: Callable[[str], Any], help_text: str, *, required: bool = True
) -> None:
    """Declare ``--data-dir`` and, in its place, ``--store``. ``directory`` parses the former."""
    log: Any = parser.add_mutually_exclusive_group(required=required)
    log.add_argument("--data-dir", type=directory, metavar="DIR", help=help_text)
    log.add_argument(
        "--store",
        action=_Store,
        type=store_url,
        dest="data_dir",
        metavar="URL",
        help="the database that nodes share, in place of a directory: postgresql://USER@HOST/DATABASE (docs/cluster.md)",
    )
    parser.add_argument(
        "--store-password",
        action=_Password,
        default="",
        type=password_reference,
        metavar="REFERENCE",
        help="where the store's password stands: ${env:NAME}, ${file:PATH:KEY}",
    )


def store_url(text: str) -> str:
    """Parse the URL of a store. For argparse."""
    return _checked(text, _check_url)


def password_reference(text: str) -> str:
    """Parse a reference to a password. For argparse."""
    return _checked(text, _check_password)


def _checked(text: str, check: Callable[[str], None]) -> str:
    # Only commands about a store need it.
    from coordinator_server.config import ConfigError

    try:
        check(text)
    except ConfigError as refused:
        raise argparse.ArgumentTypeError(str(refused)) from None
    return text


def _check_url(text: str) -> None:
    from coordinator_server.log.postgresql.address import Address

    Address(text).check()


def _check_password(text: str) -> None:
    from coordinator_server.log.postgresql.address import check_password

    check_password(text)
