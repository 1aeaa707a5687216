"""Contexts of TLS for clients of tests."""

from __future__ import annotations

import ssl
from pathlib import Path

from tests.support.certificates import Authority, Identity


def trusting(authority: Authority, identity: Identity | None = None, directory: Path = Path()) -> ssl.SSLContext:
    """Return a client's context: it trusts an authority, and shows a certificate if it has one."""
    context = ssl.create_default_context(cadata=authority.pem)
    if identity is not None:
        context.load_cert_chain(identity.write(directory / "client.pem"))
    return context
