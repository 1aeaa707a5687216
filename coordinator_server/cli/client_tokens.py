"""OAUTHBEARER in the properties of a Kafka client: a token endpoint for a client with a secret, or a file with a token.

As in Kafka 4.3, a property comes before the option of the login module: ``sasl.oauthbearer.client.credentials.client.id`` before
``clientId``. The login module has what is about TLS of the endpoint (``ssl.truststore.location``), and ``extension_NAME``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from coordinator_server.client.settings import OAuthBearer
from coordinator_server.client.tokens import ClientCredentials, TokenFile
from coordinator_server.config import ConfigError
from coordinator_server.security.client_tls import TLS_DEFAULTS, client_context

OAUTHBEARER: Final = "OAUTHBEARER"
_URL: Final = "sasl.oauthbearer.token.endpoint.url"
_RETRIEVER: Final = "sasl.oauthbearer.jwt.retriever.class"
_CLASSES: Final = "org.apache.kafka.common.security.oauthbearer."
_RETRIEVERS: Final = tuple(f"{_CLASSES}{each}JwtRetriever" for each in ("Default", "File", "ClientCredentials"))
OAUTH_DEFAULTS: Final[Mapping[str, str]] = {
    _URL: "",
    _RETRIEVER: _RETRIEVERS[0],
    "sasl.oauthbearer.client.credentials.client.id": "",
    "sasl.oauthbearer.client.credentials.client.secret": "",
    "sasl.oauthbearer.scope": "",
    "sasl.oauthbearer.header.urlencode": "false",
}
"""The properties that have an effect, with Kafka's defaults."""
_EXTENSION: Final = "extension_"


def oauth_bearer(properties: Mapping[str, str], options: Mapping[str, str]) -> OAuthBearer:
    """Return where tokens come from, by properties and the options of the login module. Raises ConfigError and InvalidSettings."""
    if properties[_RETRIEVER] not in _RETRIEVERS:
        raise ConfigError(f"{_RETRIEVER}={properties[_RETRIEVER]} is not supported, only {', '.join(_RETRIEVERS)}")
    if unserved := [name for name in properties if name.startswith("sasl.oauthbearer.assertion.")]:
        raise ConfigError(f"{unserved[0]} is not supported: a client secret or a file with a token (file:///PATH) is required")
    from coordinator_server.http_request import url_problem

    url = properties[_URL].strip()
    if not url:
        raise ConfigError(f"{_URL} is required with OAUTHBEARER: https://HOST/PATH of the issuer, or file:///PATH of a token")
    if (problem := url_problem(url)) is not None:
        raise ConfigError(f"{_URL}={url} {problem}")
    extensions = {name.removeprefix(_EXTENSION): value for name, value in options.items() if name.startswith(_EXTENSION)}
    parts = urlsplit(url)
    if parts.scheme == "file":
        return OAuthBearer(TokenFile(Path(unquote(parts.path))), extensions)

    def given(name: str, option: str) -> str:
        return (properties[f"sasl.oauthbearer.{name}"] or options.get(option, "")).strip()

    client_id, secret = (
        given("client.credentials.client.id", "clientId"),
        given("client.credentials.client.secret", "clientSecret"),
    )
    if not client_id or not secret:
        wanted = "sasl.oauthbearer.client.credentials.client.id and …client.secret"
        raise ConfigError(f'{_URL}={url} needs {wanted}, or clientId="…" clientSecret="…" in sasl.jaas.config')
    credentials = ClientCredentials(
        url,
        client_id,
        secret,
        scope=given("scope", "scope"),
        is_url_encoded=properties["sasl.oauthbearer.header.urlencode"].lower() == "true",
        tls=client_context({**TLS_DEFAULTS, **{name: value for name, value in options.items() if name in TLS_DEFAULTS}}),
    )
    return OAuthBearer(credentials, extensions)
