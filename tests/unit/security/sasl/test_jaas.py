"""Texts of ``sasl.jaas.config``, as Kafka reads them; no message quotes one, because it has passwords."""

from __future__ import annotations

import pytest

from coordinator_server.security.sasl.jaas import BadJaas, JaasEntry, parse_jaas

MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (f"{MODULE} required;", {}),
        (f"{MODULE} required user_alice=secret;", {"user_alice": "secret"}),
        (f'{MODULE}  REQUIRED\n user_alice="a b;=" user_bob = \'"\' ;\n', {"user_alice": "a b;=", "user_bob": '"'}),
        (f'{MODULE} optional "user_a b"="\\"\\\\";', {"user_a b": '"\\'}),
        (f'{MODULE} required user_alice="";', {"user_alice": ""}),
    ],
)
def test_an_entry_is_read(text: str, options: dict[str, str]) -> None:
    assert parse_jaas(text) == JaasEntry(MODULE, options)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "semicolon"),
        (f"{MODULE} required user_alice=sesame", "semicolon"),
        (f"{MODULE};", "semicolon"),
        (f"{MODULE} user_alice=sesame;", "no flag"),
        (f"{MODULE} required user_alice;", "NAME=VALUE"),
        (f"{MODULE} required user_alice=;", "NAME=VALUE"),
        (f"{MODULE} required user_alice=sesame; {MODULE} required;", "NAME=VALUE"),
        (f'{MODULE} required user_alice="sesame;', "does not end"),
    ],
)
def test_other_texts_are_refused(text: str, problem: str) -> None:
    with pytest.raises(BadJaas, match=problem) as refused:
        parse_jaas(text)

    assert "sesame" not in str(refused.value)
