"""Values that stand elsewhere, and secrets, which must."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator_server.config import ConfigError
from coordinator_server.config.load import HIDDEN, load, shown_values
from coordinator_server.config.sources import Sources

SECRET = "ssl.key.password"


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """References to the value ``se=cret``."""
    monkeypatch.setenv("TLS_PASSWORD", "se=cret")
    (tmp_path / "password").write_text("se=cret\n")
    (tmp_path / "all.properties").write_text("other=1\n\npassword = se=cret\n")
    return {
        "env": "${env:TLS_PASSWORD}",
        "directory": f"${{directory:{tmp_path}:password}}",
        "file": f"${{file:{tmp_path}/all.properties:password}}",
    }


@pytest.mark.parametrize("provider", ["env", "directory", "file"])
def test_a_value_may_stand_elsewhere(places: dict[str, str], provider: str) -> None:
    config = Sources(overrides=[f"{SECRET}={places[provider]}"]).read().config

    assert config.live.tls.ssl_key_password == "se=cret"
    assert shown_values(config)[SECRET] == HIDDEN


def test_a_reference_can_be_a_part_of_a_value(places: dict[str, str]) -> None:
    settings = Sources(overrides=["ssl.keystore.location=/keys/${env:TLS_PASSWORD}.pem"]).read()

    assert settings.config.live.tls.ssl_keystore_location == "/keys/se=cret.pem"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("${env:NOBODY_HAS_THIS}", r"\$\{env:NOBODY_HAS_THIS\} is no variable of the environment"),
        ("${file:/etc/hostname}", r"\$\{file:PATH:KEY\} is required"),
        ("${file:DIR/all.properties:key}", "has no line key=…"),
        ("${directory:DIR:key}", r"\$\{directory:DIR:key\} cannot be read: No such file or directory"),
    ],
)
def test_a_reference_that_cannot_be_resolved_is_named(places: dict[str, str], tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem.replace("DIR", str(tmp_path))):
        Sources(overrides=[SECRET + "=" + text.replace("DIR", str(tmp_path))]).read()


@pytest.mark.parametrize("name", [SECRET, f"listener.name.ssl.{SECRET}"])
def test_a_secret_is_on_no_command_line(name: str) -> None:
    with pytest.raises(ConfigError, match=r"on the command line is seen by everybody on this machine: .*env:NAME"):
        Sources(overrides=[f"{name}=secret"]).read()


def test_secrets_of_listeners_are_hidden() -> None:
    config = load({"listeners": "SSL://:0", f"listener.name.ssl.{SECRET}": "secret"})

    shown = shown_values(config)
    assert (shown[f"listener.name.ssl.{SECRET}"], shown[SECRET]) == (HIDDEN, "")
    assert "secret" not in shown.values()
