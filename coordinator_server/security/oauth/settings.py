"""What a listener's properties say of tokens and keys."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Final, NamedTuple

from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listener_settings import setting_of
from coordinator_server.config.oauthbearer import HANDLERS, VALIDATORS
from coordinator_server.http_request import url_problem
from coordinator_server.security.client_tls import TLS_DEFAULTS, client_context
from coordinator_server.security.oauth.fetching import path_of
from coordinator_server.security.oauth.key_set import ALGORITHMS
from coordinator_server.security.oauth.key_source import Pace
from coordinator_server.security.oauth.tokens import TokenRules

_PREFIX: Final = "sasl.oauthbearer."
_MECHANISM: Final = "OAUTHBEARER"
_TIMES: Final = tuple(f"{_PREFIX}jwks.endpoint.{each}" for each in ("refresh.ms", "retry.backoff.ms", "retry.backoff.max.ms"))
FILE_REFRESH_MS: Final = 1_000


class KeyPlace(NamedTuple):
    """Where keys are, and when they are fetched. ``tls_options`` are those of the JAAS entry."""

    url: str
    pace: Pace
    tls_options: tuple[tuple[str, str], ...]

    def tls(self) -> ssl.SSLContext:
        """Return the TLS of the URL. Raises ConfigError."""
        return client_context({**TLS_DEFAULTS, **dict(self.tls_options)})


def token_rules(config: Config, listener: str) -> TokenRules:
    """Return what a listener asks of a token. Raises ConfigError."""
    texts = {name: _text(config, listener, _PREFIX + name) for name in ("algorithms", "expected.audience", "expected.issuer")}
    algorithms = _items(texts["algorithms"])
    unknown = algorithms - ALGORITHMS
    if unknown or not algorithms:
        served = ", ".join(sorted(ALGORITHMS))
        raise ConfigError(f"{listener}: sasl.oauthbearer.algorithms={texts['algorithms']}: takes one or more of {served}")
    for name, allowed in (("sasl.oauthbearer.jwt.validator.class", VALIDATORS), ("sasl.server.callback.handler.class", HANDLERS)):
        if (found := _text(config, listener, name)) not in allowed:
            shown = " or ".join(filter(None, allowed))
            raise ConfigError(f"{listener}: {name}={found}: takes {shown}; classes of one's own are not supported")
    skew_s = setting_of(config, listener, f"{_PREFIX}clock.skew.seconds", _MECHANISM)
    assert isinstance(skew_s, int)
    claims = (_text(config, listener, f"{_PREFIX}{name}.claim.name") for name in ("scope", "sub"))
    return TokenRules(algorithms, _items(texts["expected.audience"]), texts["expected.issuer"], skew_s, *claims)


def key_place(config: Config, listener: str, options: Mapping[str, str]) -> KeyPlace:
    """Return where the keys of a listener are. Raises ConfigError."""
    name = f"{_PREFIX}jwks.endpoint.url"
    url = _text(config, listener, name)
    if not url:
        raise ConfigError(f"{listener}: {name} is required with OAUTHBEARER: where the keys are that vouch for tokens")
    if (problem := url_problem(url)) is not None:
        raise ConfigError(f"{listener}: {name}={url} {problem}")
    refresh_ms, backoff_ms, backoff_max_ms = (_milliseconds(config, listener, each) for each in _TIMES)
    if backoff_ms > backoff_max_ms:
        raise ConfigError(f"{listener}: {_TIMES[1]}={backoff_ms} must not be greater than {_TIMES[2]}={backoff_max_ms}")
    is_file = path_of(url) is not None
    pace = Pace(FILE_REFRESH_MS if is_file else refresh_ms, backoff_ms, backoff_max_ms, is_on_demand=not is_file)
    place = KeyPlace(url, pace, tuple(sorted(_tls_options(options).items())))
    place.tls()
    return place


def _tls_options(options: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in options.items() if name in TLS_DEFAULTS}


def _milliseconds(config: Config, listener: str, name: str) -> int:
    found = setting_of(config, listener, name, _MECHANISM)
    assert isinstance(found, int)
    return found


def _text(config: Config, listener: str, name: str) -> str:
    return str(setting_of(config, listener, name, _MECHANISM)).strip()


def _items(text: str) -> frozenset[str]:
    return frozenset(filter(None, (item.strip() for item in text.split(","))))
