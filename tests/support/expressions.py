"""Regular expressions for topics, named and drawn at random from a fixed seed: what RE2/J says of them is stored."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

TEXTS = [
    "a", "b", "ab", "aab", "abc", "ABC", "aBc", "orders", "orders-1", "orders.eu", "orders_eu", "Orders", "team-1.orders",
    "team-22.bills", "__consumer_offsets", "0", "12", "1.5", "x" * 60, "a-b", "a.b", "a_b", "-", ".a", "foo", "foobar", "barfoo",
    "bar",
]  # fmt: skip
NAMED = [
    "", "a", "a*", ".*", ".+", "orders", "orders.*", "orders-\\d+", "(orders|bills).*", "team-(1|2+)\\..*", "^orders$",
    "\\Aorders\\z", "\\Aorders\\Z", "[a-z]+", "[^a-z]+", "[[:alpha:]]+", "[[:foo:]]", "(?i)abc", "(?i:a)bc", "(?-i)abc", "(?s).*",
    "(?U)a+b", "(?m)^a$", "(?x)a b", "(?u)a", "(?P<name>a)b", "(?<name>a)b", "(?P<n>a)(?P<n>b)", "(?'n'a)", "(?P<n", "(?P=n)",
    "(?P>n)", "(?:a|b)+", "(?=a)a", "(?!a)b", "(?<=a)b", "(?<!a)b", "(?>a)b", "(?#x)a", "(a)\\1", "a{2}b", "a{1,2}b", "a{,2}b",
    "a{2,1}", "a{1001}", "a{1000}", "a{", "a{1", "a{1,", "a{x}", "(a{100}){11}", "((a{10}){10}){11}", "a**", "a*+", "a*?", "a??",
    "a+?", "a+++", "*", "+a", "?", "|", "a|", "|a", "a||b", "(", ")", "(a", "a)", "(a))", "((a)", "()", "(|a)b", "[", "[]",
    "[]a]", "[^]", "[^]a]+", "[a", "[a-", "[a-]", "[-a]", "[b-a]", "[a-\\d]", "[\\d-z]", "[[a]", "[a]]", "[a-z&&[^b]]", "\\",
    "a\\", "\\d+", "\\D+", "\\w+", "\\W", "\\s", "\\S+", "\\b", "\\borders\\b", "\\Bs", "\\pL+", "\\p{L}+", "\\p{Lu}+", "\\PL+",
    "\\p{Greek}", "\\p{Nope}", "\\p{", "\\p", "\\p{^L}", "\\pN+", "\\Q.a\\E", "\\Qa.b", "\\Q", "\\E", "a\\Eb", "\\C", "\\C+",
    "\\X", "\\R", "\\G", "\\K", "\\h", "\\v", "\\a", "\\f", "\\n", "\\t", "\\e", "\\z", "\\Z", "\\A", "\\1", "\\8", "\\0", "\\07",
    "\\141", "\\x61", "\\x{61}", "\\x", "\\x6", "\\x{110000}", "\\x{", "\\u0061", "\\N{a}", "\\cA", "\\-", "\\_", "\\.", "\\é",
    "é", "[é]", "a.b", "a\\.b", "a-b", "a$b", "a^b", "$", "^", "^^", "$$", "^*", "$*", "(?i)", "(?", "(?i", "(?z)a", "(?i-)a",
    "(?-)a", "(?--i)a", "(?i)(?-i)a", "(*a)", "(+)", "a(?i)B", "x{60}", "x{50,70}", "\ta", "a\nb", "a{0}b", "a{0,0}b",
    "(a{0,3}){2}b", "(?:(?:a)*)*", "(a*)*", "(a|b|)*", "a{2}{3}", "a{2}*", "a*{2}", "[\\Qa-z\\E]+", "[\\x61-c]+", "[\\w.-]+",
    "[.-_]+", "[+--]+", "\\pZ",
]  # fmt: skip
RANDOM = 400
_PIECES = [
    *"ab.*+?|()[]{}^$\\-,1",
    "a",
    "b",
    ".",
    ".*",
    "\\d",
    "\\w",
    "[a-c]",
    "[^b]",
    "(a|b)",
    "(?:",
    "(?i)",
    "{2}",
    "{1,3}",
    "orders",
]


def expressions() -> Iterator[str]:
    """Each once."""
    rng = random.Random(848)
    drawn = ("".join(rng.choices(_PIECES, k=rng.randrange(1, 9))) for _ in range(RANDOM))
    yield from dict.fromkeys([*NAMED, *drawn])


def questions() -> Iterator[dict[str, Any]]:
    """What is asked of RE2/J."""
    return ({"expression": each, "texts": TEXTS} for each in expressions())
