"""No part of a sensitive property is in an error, whatever is wrong with it and wherever it is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from coordinator_server.cli.client_properties import connection_settings
from coordinator_server.client.errors import InvalidSettings
from coordinator_server.config import Config, ConfigError
from coordinator_server.config.listener_settings import PREFIX
from coordinator_server.config.names import is_secret
from coordinator_server.config.properties import property_names
from coordinator_server.config.sources import Sources
from coordinator_server.security.sasl.mechanisms import mechanisms_of
from coordinator_server.security.tls import ListenerTls
from coordinator_server.security.tls_settings import TlsSettings
from tests.support.certificates import Authority

MARKER = "S3CR3T"
SERVER = Authority().issue("server")
SECRETS = [name for name in property_names() if is_secret(name)]
JAAS = "plain.sasl.jaas.config"

# Each has the marker, and what is wrong with it.
REFERENCES = {
    "no variable": f"{MARKER}${{env:NOBODY_HAS_THIS}}",
    "no file": f"{MARKER} ${{file:/nowhere/at/all:key}} {MARKER}",
    "no key": f"{MARKER} ${{file:/etc/hostname:key}}",
    "no such key": f"{MARKER}${{file:/etc/hostname}}",
    "a directory": f"{MARKER}${{directory:/etc:.}}",
    "no text": f"{MARKER}${{file:{{binary}}:key}}",
    "no end": f'user_a="${{env:A" user_b="{MARKER}}}"',
    "no end of a file": f'user_a="${{file:/etc/hostname" user_b="{MARKER}:x}}"',
}
JAAS_TEXTS = {
    "one word": MARKER,
    "no semicolon": f'Module required user_a="{MARKER}"',
    "no flag": f'Module user_a="{MARKER}";',
    "a quote without an end": f'Module required user_a="{MARKER};',
    "no equals sign": f'Module required user_a "{MARKER}";',
    "no value": f"Module required user_a={MARKER}= ;",
}
PEM_TEXTS = {
    "no PEM": MARKER,
    "half of PEM": f"-----BEGIN PRIVATE KEY-----\n{MARKER}",
    "bad base64": f"-----BEGIN PRIVATE KEY-----\n{MARKER}!\n-----END PRIVATE KEY-----\n",
    "a wrong kind": f"-----BEGIN {MARKER}-----\nAAAA\n-----END {MARKER}-----\n",
    "not ASCII": f"-----BEGIN CERTIFICATE-----\n{MARKER}é\n-----END CERTIFICATE-----\n",
}
TOML_VALUES = (
    f'[["{MARKER}"]]',
    f'{{ a = "{MARKER}" }}',
    f'"{MARKER}',
    f'"{MARKER}" "{MARKER}"',
    f'"{MARKER}\\q"',
    f"'''{MARKER}",
)


def names_of(secret: str) -> list[str]:
    """The property itself, and that of a listener."""
    return [f"{PREFIX}internal.{JAAS}"] if secret == "sasl.jaas.config" else [secret, f"{PREFIX}internal.{secret}"]


NAMES = [name for secret in SECRETS for name in names_of(secret)]


def used(config: Config) -> None:
    """What a listener makes of its properties."""
    ListenerTls(TlsSettings.of(config, "INTERNAL"))
    mechanisms_of(config, "INTERNAL", None, b"key", None)  # type: ignore[arg-type]


def problem_of(read: Callable[[], object]) -> str:
    """The error, all that it was raised from included."""
    with pytest.raises((ConfigError, InvalidSettings)) as caught:
        read()
    texts: list[str] = []
    error: BaseException | None = caught.value
    while error is not None:
        texts.append(f"{error} {error!r}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return " ".join(texts)


def configured(name: str, text: str, tmp_path: Path) -> dict[str, Callable[[], object]]:
    """A property with a value, in each of the places that it may be given in. Secrets are refused on a command line."""
    listeners = "listeners=INTERNAL://127.0.0.1:0", "listener.security.protocol.map=INTERNAL:SASL_SSL"
    others = [*listeners, "sasl.enabled.mechanisms=PLAIN", f"ssl.keystore.location={SERVER.write(tmp_path / 'server.pem')}"]
    file, variable = tmp_path / "a.properties", "KAFKA_" + name.upper().replace("-", "___").replace(".", "_")
    file.write_text(f"{name}={text}".replace("\\", "\\\\").replace("\n", "\\n"), encoding="utf-8")
    return {
        "file": lambda: used(Sources(file, overrides=others).read().config),
        "environment": lambda: used(Sources(environment={variable: text}, overrides=others).read().config),
        "command line": lambda: used(Sources(overrides=[*others, f"{name}={text}"]).read().config),
    }


def test_the_marker_is_tried_in_every_sensitive_property() -> None:
    """So that a new one is tried, too."""
    assert len(SECRETS) >= 5
    assert len(NAMES) * (len(REFERENCES) + 1) * 3 > 200


@pytest.mark.parametrize("name", NAMES)
def test_a_sensitive_property_is_not_quoted(name: str, tmp_path: Path) -> None:
    """Not if a reference in it is wrong, if it is wrong itself, or if it is given where it may not be."""
    (tmp_path / "binary").write_bytes(b"\xff\xfekey=1")
    texts = {how: text.replace("{binary}", str(tmp_path / "binary")) for how, text in REFERENCES.items()}
    texts |= JAAS_TEXTS if name.endswith("jaas.config") else PEM_TEXTS
    for how, text in texts.items():
        for place, read in configured(name, text, tmp_path).items():
            assert MARKER not in problem_of(read), (how, place)


@pytest.mark.parametrize("name", NAMES)
def test_a_sensitive_line_of_a_file_is_not_quoted(name: str, tmp_path: Path) -> None:
    """If the file cannot be read as TOML, or the value is of no type that properties have."""
    file = tmp_path / "a.toml"
    for value in TOML_VALUES:
        file.write_text(f'"{name}" = {value}\n')

        assert MARKER not in str(unknown_or_problem(file)), value


def unknown_or_problem(file: Path) -> list[object]:
    """What a server would log about a file."""
    try:
        return list(Sources(file).read().unknown)
    except ConfigError as wrong:
        return [str(wrong)]


def test_a_continuation_without_a_backslash_is_not_quoted(tmp_path: Path) -> None:
    """The second line looks like a name, which is reported as unknown."""
    file = tmp_path / "a.properties"
    file.write_text(f'listener.name.internal.{JAAS}=Module required\n  "{MARKER}";\n  user_a="{MARKER}";\n')

    with pytest.raises(ConfigError) as caught:
        Sources(file).read()
    assert MARKER not in str(caught.value)
    file.write_text(f'"{MARKER}";\n user_a="{MARKER}";\n')
    assert MARKER not in str(Sources(file).read().unknown)


def test_an_option_without_an_equals_sign_is_not_quoted() -> None:
    with pytest.raises(ConfigError) as caught:
        Sources(overrides=[f"ssl.key.password: {MARKER}"]).read()
    assert MARKER not in str(caught.value)


@pytest.mark.parametrize("name", ["ssl.key.password", "ssl.keystore.key", "ssl.truststore.certificates", "sasl.jaas.config"])
def test_the_secrets_of_a_client_are_not_quoted(name: str, tmp_path: Path) -> None:
    """Of a file for --command-config."""
    file = tmp_path / "client.properties"
    texts = REFERENCES | (JAAS_TEXTS if name == "sasl.jaas.config" else PEM_TEXTS if name != "ssl.key.password" else {})
    for how, text in texts.items():
        lines = ["security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", f"{name}={text}".replace("\n", "\\n")]
        file.write_text("\n".join(lines), encoding="utf-8")

        assert MARKER not in problem_of(lambda: connection_settings(None, file, 1.0)), how
