"""docs/tokens.md: a server and a client with the files that the page prints, and a token's end in the audit log.

What stands for a reader's own (addresses, files, a secret) is put in its place.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from coordinator_server.cli import main
from tests.support.certificates import Authority
from tests.support.server import ROOT, Server
from tests.support.token_issuer import TokenIssuer

PAGE = (ROOT / "docs/tokens.md").read_text()
BLOCKS = re.findall(r"(?:^    [^\n]*\n)+", PAGE, re.MULTILINE)
REALM = "https://login.example/realms/apps"


class Realm(TokenIssuer):
    """The issuer of the page. Its tokens are for one audience."""

    audience = "coordinator"

    def token(self, user: str = "billing", name: str | None = None, **claims: Any) -> str:
        return super().token(user, name, **{"iss": REALM, "aud": self.audience, **claims})


def block(words: str) -> str:
    """The one block of the page that has some words, as a file has it."""
    [found] = [each for each in BLOCKS if words in each]
    return re.sub(r"^    ", "", found, flags=re.MULTILINE)


def test_the_files_of_the_page_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    authority = Authority()
    authority.write(tmp_path / "issuer-ca.pem")
    authority.issue("localhost").write(tmp_path / "server.pem")
    with Realm(authority.issue("localhost"), tmp_path) as realm:
        realm.secrets = {"billing": "secret"}

        def own(text: str) -> str:
            """As this reader has it."""
            for page, here in (
                (f"{REALM}/protocol/openid-connect/certs", realm.url("keys")),
                (f"{REALM}/protocol/openid-connect/token", realm.url("token")),
                ("/etc/coordinator-server", str(tmp_path)),
                ('clientSecret="…"', f'clientSecret="secret" ssl.truststore.location="{tmp_path}/issuer-ca.pem"'),
            ):
                text = text.replace(page, here)
            return text

        of_server, of_client = tmp_path / "server.properties", tmp_path / "client.properties"
        of_server.write_text(own(block("sasl.enabled.mechanisms") + block("listener.name.sasl_ssl.oauthbearer.sasl.jaas.config")))
        lines = [each for each in own(block("security.protocol")).splitlines() if "callback.handler.class" not in each]
        of_client.write_text("\n".join([*lines, f"ssl.truststore.location={tmp_path}/issuer-ca.pem"]))
        server = Server(tmp_path, {"listeners": "SASL_SSL://127.0.0.1:0", "topics": "orders:1"})
        server.words = ["--config", str(of_server)]
        with server:
            words = ["topics", "list", "--command-config", str(of_client)]
            words += ["--bootstrap", f"localhost:{server.listeners['SASL_SSL'][0]}"]
            assert main(words) == 0
            assert "orders" in capsys.readouterr().out

            realm.audience = "another"
            assert main(words) == 1
            assert '{"status":"invalid_token"}' in capsys.readouterr().err
            told = [json.loads(line) for line in server.log().splitlines() if '"authentication-failed"' in line]
            assert told[-1]["why"].startswith("the audience is ")
            assert "| `the audience is …`" in PAGE

        (tmp_path / "TOKEN").write_text(realm.token())
        shown = subprocess.run(["sh", "-c", block("urlsafe_b64decode")], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert json.loads(shown.stdout)["aud"] == "another"
