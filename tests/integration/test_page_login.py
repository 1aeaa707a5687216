"""The page off loopback: TLS, and a login by the users of the server, or of the cluster that is followed, who see what they may."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
from collections.abc import Iterator, Sequence
from functools import partial
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from coordinator_server.config.load import load
from coordinator_server.page.answers import ANSWERS
from coordinator_server.page.app import VIEWS
from coordinator_server.security.tls_settings import TlsSettings
from coordinator_server.server.http_process import HttpProcess, PageSetup, wanted_page
from protocol.acl_codes import Operation, ResourceType
from protocol.messages.create_acls import CreateAclsRequest, CreateAclsResponse
from tests.support.client import Client
from tests.support.command_forks import fork_command
from tests.support.eventually import eventually
from tests.support.guarded import entry
from tests.support.members import form_group
from tests.support.producer import Producer
from tests.support.secured_page import AUTHORITY, SECRET, server_with_login
from tests.support.server import Server
from tests.support.share_state import initialize_shares
from tests.support.simple_requests import make_topic, must_commit, topic_of

NAME = "page.example"
FOREIGN = ("foreign", "mixed", "payroll")
"""What all names have that Alice may not see: groups, clients, topics and transactional ids."""
LISTS = {
    "groups": ["foreign", "mixed"],
    "clients": ["foreign-members"],
    "topics": ["foreign", "payroll"],
    "transactions": ["foreign-mover", "foreign"],
    "shares": ["foreign-workers", "payroll"],
}
"""Answers about all groups, each with what is on it that Alice may not see."""
OF_A_GROUP = {"group", "pace", "trend", "picture", "events", "moment", "difference", "what-if"}
OF_THE_CLUSTER = {"log", "doctor"}


class Browser:
    """Keeps its connection and its cookie, and does not follow what leads elsewhere."""

    def __init__(self, address: str) -> None:
        self._context = ssl.create_default_context(cadata=AUTHORITY.pem)
        self._context.check_hostname = False
        port = int(address.rstrip("/").rpartition(":")[2])
        self._connection = HTTPSConnection("127.0.0.1", port, timeout=30, context=self._context)
        self._cookie = ""

    def ask(self, path: str, form: dict[str, str] | None = None, host: str = NAME) -> tuple[int, str, dict[str, str]]:
        headers = {"Host": host, "Cookie": self._cookie}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        self._connection.request("GET" if form is None else "POST", path, None if form is None else urlencode(form), headers)
        answer = self._connection.getresponse()
        if cookie := answer.getheader("set-cookie"):
            self._cookie = cookie.partition(";")[0]
        return answer.status, answer.read().decode(), dict(answer.headers)

    def login(self, user: str, password: str = SECRET) -> str:
        status, _, headers = self.ask("/login", {"user": user, "password": password, "to": "/group?id=alices"})
        assert status == 303
        return headers["location"]

    def certificate(self) -> bytes:
        """The certificate that a new connection is shown."""
        connection = HTTPSConnection("127.0.0.1", self._connection.port, timeout=30, context=self._context)
        connection.connect()
        found = connection.sock.getpeercert(binary_form=True)
        connection.close()
        assert isinstance(found, bytes)
        return found

    def answer(self, name: str) -> Any:
        status, body, _ = self.ask(f"/api/{name}")
        return json.loads(body) if status == 200 else None


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server_with_login(tmp_path_factory.mktemp("server"), NAME) as server:
        address = ("127.0.0.1", server.listeners["PLAINTEXT"][0])
        with Client(address) as client:
            make_topic(client, "orders", 2)
            make_topic(client, "payroll", 2)
            acls = [
                entry("alice", Operation.DESCRIBE, ResourceType.GROUP, "alices"),
                entry("alice", Operation.DESCRIBE, ResourceType.GROUP, "mixed"),
                entry("alice", Operation.DESCRIBE, ResourceType.TOPIC, "orders"),
            ]
            answer = client.ask(CreateAclsRequest(acls), 3, CreateAclsResponse)
            assert [each.error_code for each in answer.results] == [0, 0, 0]
            must_commit(client, "alices", "orders", {0: 5})
            must_commit(client, "mixed", "payroll", {0: 5})
            must_commit(client, "foreign", "orders", {0: 5})
            initialize_shares(client, "foreign-workers", [(topic_of(client, "payroll").topic_id, 0)])
        with Producer(address, "foreign-mover") as producer:
            producer.init()
            producer.commit("foreign", "orders", {1: 7})
            producer.end()
        form_group(address, "foreign-members", 1, session_timeout_ms=1_800_000)
        yield server


@pytest.fixture(scope="module")
def page(server: Server) -> str:
    [line] = [each for each in map(json.loads, server.log().splitlines()) if each["event"] == "page-listening"]
    found: str = line["address"]
    assert found.startswith("https://")
    return found


def check_foreign_groups_are_hidden(browser: Browser, own: str) -> None:
    """On every route: as if they were not there."""
    eventually(lambda: (found := browser.answer("groups?q=state:any")) and [each["group"] for each in found["rows"]] == [own])
    for name in LISTS:
        status, body, _ = browser.ask(f"/api/{name}?past=1")
        assert (status, [each for each in FOREIGN if each in body]) == (200, []), name
    for name in OF_A_GROUP:
        for group in ("mixed", "foreign", "foreign-members"):
            status, body, _ = browser.ask(f"/api/{name}?{_of(group)}")
            missing, empty, _ = browser.ask(f"/api/{name}?{_of('none')}")
            assert (status, body.replace(group, "none")) == (missing, empty) == (404, empty), name
    assert {browser.ask(f"/api/{name}")[0] for name in OF_THE_CLUSTER} == {404}


def _of(group: str) -> str:
    return f"id={group}&at=1&from=1&to=2"


def test_each_answer_is_one_that_is_looked_at_for_foreign_groups() -> None:
    """A new one belongs into one of these tables; the routes beside answers are those of tests/unit/page/test_rights.py."""
    assert sorted(ANSWERS) == sorted([*LISTS, *OF_A_GROUP, *OF_THE_CLUSTER])


def test_nobody_is_answered_without_a_login(page: str) -> None:
    browser = Browser(page)

    assert {browser.ask(f"/api/{name}")[0] for name in (*ANSWERS, "status", "viewer")} == {401}
    assert {browser.ask(path)[0] for path in VIEWS} == {303}
    assert browser.ask("/login")[0] == 200
    assert browser.ask("/", host="evil.example")[0] == 403
    assert "why=the+user+or+the+password+is+wrong" in browser.login("alice", "wrong")
    assert browser.ask("/api/groups")[0] == 401


def test_a_user_sees_what_it_may_describe_and_nothing_else(page: str) -> None:
    browser = Browser(page)

    assert browser.login("alice") == "/group?id=alices"
    check_foreign_groups_are_hidden(browser, "alices")
    assert browser.answer("viewer") == {"user": "alice", "has_cluster": False}
    assert browser.answer("group?id=alices")["topics"] == ["orders"]
    assert browser.ask("/logout", {})[0] == 303
    assert browser.ask("/api/groups")[0] == 401


def test_who_may_describe_the_cluster_sees_all(page: str) -> None:
    browser = Browser(page)
    browser.login("operator")

    found = eventually(lambda: (found := browser.answer("groups")) and found["matching"] == 4 and found)
    assert [each["group"] for each in found["rows"]] == ["alices", "foreign", "foreign-members", "mixed"]
    assert browser.answer("log")["loops"]
    for name, hidden in LISTS.items():
        eventually(partial(_shows, browser, name, hidden))
    for name in OF_A_GROUP:
        assert {browser.ask(f"/api/{name}?{_of(group)}")[0] for group in ("foreign-members", "none")} == {200, 404}, name


def _shows(browser: Browser, name: str, hidden: Sequence[str]) -> bool:
    body = browser.ask(f"/api/{name}?past=1")[1]
    return all(each in body for each in hidden)


def test_its_certificate_is_read_again(server: Server, page: str) -> None:
    """Who has logged in stays so, and a file that is wrong changes nothing."""
    browser = Browser(page)
    browser.login("alice")
    keystore = Path(str(server.overrides["ssl.keystore.location"]))
    newer = AUTHORITY.issue("newer")
    newer.write(keystore)
    server.send_signal(signal.SIGHUP)

    eventually(lambda: browser.certificate() == newer.der)
    assert browser.answer("viewer")["user"] == "alice"
    keystore.write_text("nothing")
    server.send_signal(signal.SIGHUP)
    eventually(lambda: [each for each in _events(server, "certificate-not-reloaded") if each["listener"] == "page"])
    newer.write(keystore)
    assert browser.certificate() == newer.der


async def test_a_signal_that_comes_before_the_page_can_take_it_does_not_end_it(tmp_path: Path) -> None:
    """A certificate is renewed in the moment in which the process is started."""
    config = load({"ssl.keystore.location": str(AUTHORITY.issue("page").write(tmp_path / "page.pem"))})
    process = HttpProcess(wanted_page(("127.0.0.1", 0), PageSetup([NAME], TlsSettings.of(config, "PAGE"))), tmp_path)
    process.start()
    try:
        started = process._process
        process.reload()
        # Its socket listens before it does: who connects waits for it.
        assert await asyncio.to_thread(Browser(process.url).certificate)
        assert started is not None
        assert (process._process, started.poll()) == (started, None)
    finally:
        process.stop()


def _events(server: Server, event: str) -> list[dict[str, Any]]:
    lines = [json.loads(each) for each in server.log().splitlines() if each.startswith("{")]
    return [each for each in lines if each["event"] == event]


def test_a_login_of_an_observed_cluster_is_tried_there(server: Server, page: str, tmp_path: Path) -> None:
    """The observer reads as one user; the viewer sees what another may."""
    keystore = AUTHORITY.issue("page").write(tmp_path / "page.pem")
    trusted = AUTHORITY.write(tmp_path / "trusted.pem")
    config = tmp_path / "client.properties"
    config.write_text(
        f"security.protocol=SASL_SSL\nssl.truststore.type=PEM\nssl.truststore.location={trusted}\n"
        "ssl.endpoint.identification.algorithm=\nsasl.mechanism=SCRAM-SHA-256\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
        f'username="operator" password="{SECRET}";\n'
    )
    observed = tmp_path / "observed"
    words = ["observe", "--bootstrap", f"127.0.0.1:{server.listeners['SASL_SSL'][0]}", "--command-config", str(config)]
    words += ["--data-dir", str(observed), "--page", "0.0.0.0:0", "--page-certificate", str(keystore), "--page-host", NAME]
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        running = fork_command([*words, "--log-format", "json"], os.environ, stderr)
    try:
        lines = eventually(lambda: [each for each in log.read_text().splitlines() if "page-listening" in each])
        browser = Browser(json.loads(lines[0])["address"])
        assert browser.login("alice") == "/group?id=alices"
        check_foreign_groups_are_hidden(browser, "alices")
        newer = AUTHORITY.issue("newer")
        newer.write(keystore)
        running.send_signal(signal.SIGHUP)
        eventually(lambda: browser.certificate() == newer.der)
    finally:
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
