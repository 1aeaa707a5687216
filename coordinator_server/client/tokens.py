"""Where the tokens of OAUTHBEARER come from: a file, or an issuer that gives them to a client with a secret (RFC 6749, 4.4).

A token is used until four fifths of its time have passed, as Kafka's ``sasl.login.refresh.window.factor`` has it, and longer if no
new one can be had. What reads or fetches it blocks: connections call it in a thread.
"""

from __future__ import annotations

import json
import re
import ssl
import time
from base64 import b64encode, urlsafe_b64decode
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Final, NamedTuple
from urllib.parse import quote_plus, urlsplit

from coordinator_server.client.errors import AuthenticationFailed, ClientError, ConnectionFailed, InvalidSettings

# What a file or an issuer's answer may have, and the time for a connection to the issuer and for all of a request.
_MOST_BYTES: Final = 1 << 16
_CONNECT_S, _TOTAL_S = 5, 10
_USED: Final = 0.8
_TOKEN: Final = re.compile(r"[-_~+/a-zA-Z0-9]+\.[-_~+/a-zA-Z0-9]+\.[-_~+/a-zA-Z0-9]+=*")
# The issuer does not know this client, or does not take such requests: Kafka does not ask it again either.
_FINAL: Final = range(400, 500)
_RETRIABLE: Final = (408, 425, 429)


@dataclass(frozen=True)
class TokenFile:
    """A file with a token, which somebody else replaces in time. It is read for each login."""

    path: Path

    def token(self) -> str:
        """Return the token. Raises AuthenticationFailed."""
        try:
            with self.path.open("rb") as file:
                data = file.read(_MOST_BYTES)
        except OSError as refused:
            raise AuthenticationFailed(f"{self.path} with the token cannot be read: {refused.strerror or refused}") from None
        return _checked(data.decode(errors="replace").strip(), str(self.path))


class _Held(NamedTuple):
    token: str
    renew_s: float
    ends_s: float


@dataclass(frozen=True)
class ClientCredentials:
    """An issuer's token endpoint, and this client's id there. ``tls`` has the certificates that the issuer's is checked with."""

    url: str
    client_id: str
    client_secret: str = field(repr=False)
    _: KW_ONLY
    scope: str = ""
    is_url_encoded: bool = False
    """Whether name, secret and scope are encoded before they are sent (Kafka's ``sasl.oauthbearer.header.urlencode``)."""
    tls: ssl.SSLContext = field(default_factory=ssl.create_default_context, repr=False)
    now_s: Callable[[], float] = field(default=time.time, repr=False)
    _held: list[_Held] = field(default_factory=list, init=False, repr=False, compare=False)
    _lock: Any = field(default_factory=Lock, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Loaded by those who need it: HTTP is a tenth of the library's start.
        from coordinator_server.http_request import url_problem

        is_file = urlsplit(self.url).scheme == "file"
        if (problem := "is that of a file" if is_file else url_problem(self.url)) is not None:
            raise InvalidSettings(f"the URL of the token endpoint {self.url!r} {problem}")
        if not self.client_id or not self.client_secret:
            raise InvalidSettings("a client id and a client secret are required for a token endpoint")

    def token(self) -> str:
        """Return a token that holds. Raises AuthenticationFailed, and ConnectionFailed if another attempt may help."""
        with self._lock:
            held, now_s = self._held[0] if self._held else None, self.now_s()
            if held is not None and now_s < held.renew_s:
                return held.token
            try:
                self._held[:] = [self._fetch(now_s)]
            except ClientError:
                if held is None or now_s >= held.ends_s:
                    raise
                return held.token
            return self._held[0].token

    def _fetch(self, now_s: float) -> _Held:
        from coordinator_server.http_request import HttpFailed, HttpLimits, request

        encode = quote_plus if self.is_url_encoded else str
        form = "grant_type=client_credentials" + (f"&scope={encode(self.scope)}" if self.scope else "")
        name = b64encode(f"{encode(self.client_id)}:{encode(self.client_secret)}".encode()).decode()
        headers = {
            "Authorization": f"Basic {name}",
            "Content-Type": "application/x-www-form-urlencoded",
            "Cache-Control": "no-cache",
        }
        limits = HttpLimits(_CONNECT_S, _TOTAL_S, _MOST_BYTES)
        try:
            body = request(self.url, limits, tls=self.tls, headers=headers, form=form.encode())
        except HttpFailed as failed:
            kind = AuthenticationFailed if failed.status in _FINAL and failed.status not in _RETRIABLE else ConnectionFailed
            raise kind(f"no token of {self.url}: {failed}") from None
        token, lifetime_s = _answered(body, self.url)
        ends_s = _end_of(token) or now_s + lifetime_s
        return _Held(token, now_s + _USED * (ends_s - now_s), ends_s)


def _answered(body: bytes, url: str) -> tuple[str, float]:
    """Return the token of an issuer's answer, and for how many seconds the answer says that it holds; 0: it does not."""
    try:
        found = json.loads(body)
        token = found.get("access_token") or found.get("id_token")
        lifetime = found.get("expires_in", 0)
    except (ValueError, AttributeError, RecursionError):
        raise AuthenticationFailed(f"the answer of {url} has no token") from None
    if not isinstance(token, str):
        raise AuthenticationFailed(f"the answer of {url} has no token")
    return _checked(token.strip(), url), lifetime if isinstance(lifetime, int | float) else 0


def _checked(token: str, place: str) -> str:
    if _TOKEN.fullmatch(token) is None:
        raise AuthenticationFailed(f"{place} has no token of the form header.payload.signature")
    return token


def _end_of(token: str) -> float:
    """Return when a token ends, in seconds since the epoch; 0 if it does not say."""
    payload = token.split(".")[1]
    try:
        ends = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4))).get("exp", 0)
    except (ValueError, AttributeError, RecursionError):
        return 0
    return float(ends) if isinstance(ends, int | float) and abs(ends) < 1 << 42 else 0
