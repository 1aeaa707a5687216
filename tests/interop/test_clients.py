"""The tables of clients agree with each other, with the scenarios of the contract, and with README.md."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.interop.clients import ADMINS, CONSUMERS, READERS
from tests.interop.contract_table import CONTRACT, LACKS
from tests.interop.programs import FOREIGN
from tests.support.server import ROOT

CLIENTS = {*FOREIGN, *CONSUMERS}


def test_every_library_is_a_consumer_an_admin_and_a_reader() -> None:
    assert CONSUMERS.keys() == ADMINS.keys() == READERS.keys()


def test_readme_names_every_client() -> None:
    told = (ROOT / "README.md").read_text().casefold()

    assert [client for client in CLIENTS if client.casefold() not in told] == []


def test_what_clients_lack_is_asked_of_the_others() -> None:
    """A scenario that is renamed or gone leaves no excuse behind."""
    tree = ast.parse((Path(__file__).parent / CONTRACT).read_text())
    scenarios = {each.name.removeprefix("test_") for each in tree.body if isinstance(each, ast.FunctionDef)}

    assert {client for client, _ in LACKS} <= CLIENTS
    assert {scenario for _, scenario in LACKS} <= scenarios
