"""Files of Java properties."""

from __future__ import annotations

import pytest

from coordinator_server.config.java_properties import MalformedProperties, PropertyLine, parse_properties


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a=b", [(1, "a", "b")]),
        ("# no\n! no\n\n  \t\n a = b ", [(5, "a", "b")]),
        ("a:b\nc d\ne\t=\tf", [(1, "a", "b"), (2, "c", "d"), (3, "e", "f")]),
        ("a=b=c:d", [(1, "a", "b=c:d")]),
        ("a = = b", [(1, "a", "= b")]),
        ("a\nb=", [(1, "a", ""), (2, "b", "")]),
        ("a=b,\\\n   c,\\\r\n\td\ne=f", [(1, "a", "b,c,d"), (4, "e", "f")]),
        ("a=b\\\\\nc=d", [(1, "a", "b\\"), (2, "c", "d")]),
        ("a=b\\\n# not a comment\nc=d", [(1, "a", "b# not a comment"), (3, "c", "d")]),
        ("a=b\\", [(1, "a", "b")]),
        (r"a\ b\:c\=d=e", [(1, "a b:c=d", "e")]),
        (r"a=\t\n\r\f\u00e9\q", [(1, "a", "\t\n\r\f\u00e9q")]),
        ("a=1\na=2", [(1, "a", "1"), (2, "a", "2")]),
        ("a=b\rc=d", [(1, "a", "b"), (2, "c", "d")]),
    ],
)
def test_lines_are_read_as_java_reads_them(text: str, found: list[tuple[int, str, str]]) -> None:
    """Each with its number; blanks around a value do not count, as in Kafka."""
    found = [(number, name, value.strip(" \t\f")) for number, name, value in found]

    assert parse_properties(text) == [PropertyLine(*each) for each in found]


def test_a_malformed_escape_is_an_error_with_its_line() -> None:
    with pytest.raises(MalformedProperties, match="four hexadecimal digits") as refused:
        parse_properties("a=b\n\nc=\\u12")

    assert refused.value.number == 3
