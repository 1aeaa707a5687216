"""Why a TLS handshake, a key or a certificate failed, in words."""

from __future__ import annotations


def tls_reason(error: OSError) -> str:
    """Return what OpenSSL says of a failure, such as "wrong version number"; other errors say what they are."""
    return str(getattr(error, "reason", None) or error).lower().replace("_", " ")
