"""Texts for terminals and log lines."""

from __future__ import annotations

import json

import pytest

from protocol.printable import printable, printable_json


@pytest.mark.parametrize("text", ["", "orders-1", "zażółć 漢字 \N{SKULL} c:\\path"])
def test_what_prints_stays_as_it_is(text: str) -> None:
    assert printable(text) == text
    assert printable_json(json.dumps(text, ensure_ascii=False)) == json.dumps(text, ensure_ascii=False)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", "a\\x00b"),
        ("\x1b[2J", "\\x1b[2J"),
        ("\r\n", "\\x0d\\x0a"),
        ("\x7f\x9b", "\\x7f\\x9b"),
        ("\u202eevil\u2069", "\\u202eevil\\u2069"),
        ("\u2028", "\\u2028"),
        ("\uffff", "\\uffff"),
        ("\U000e0041", "\\U000e0041"),
        ("\U0010ffff", "\\U0010ffff"),
        ("\udcff", "\\udcff"),
    ],
)
def test_what_does_not_print_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


def test_json_keeps_its_value() -> None:
    """Every character of a text can be read back, and none but printable ones is there."""
    text = "".join(map(chr, [*range(0x300), *range(0x2000, 0x2100), 0xFEFF, 0xE0041, 0x1F480]))
    shown = printable_json(json.dumps(text, ensure_ascii=False))

    assert shown.isprintable()
    assert json.loads(shown) == text


def test_a_long_text_is_escaped_throughout() -> None:
    text = "x\x1b" * 10_000

    assert printable(text) == "x\\x1b" * 10_000
    assert printable_json(text) == "x\\u001b" * 10_000
