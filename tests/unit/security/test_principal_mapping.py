"""The names of principals that certificates stand for."""

from __future__ import annotations

import pytest

from coordinator_server.config import ConfigError
from coordinator_server.security.principal_mapping import NoPrincipal, PrincipalMapping

NAME = "CN=Alice,OU=Dept.1,O=Example\\, Inc.,C=DE"
CN = r"RULE:^CN=([^,]+),.*$/$1/"


@pytest.mark.parametrize(
    ("rules", "principal"),
    [
        ("DEFAULT", NAME),
        ("", None),
        (CN, "Alice"),
        (CN + "L", "alice"),
        (CN + "U", "ALICE"),
        ("RULE:^CN=Bob.*$/bob/, DEFAULT", NAME),
        (f"RULE:^CN=Bob.*$/bob/,{CN}L ,DEFAULT", "alice"),
        # The whole name has to match.
        ("RULE:CN=Alice/alice/", None),
        ("RULE:CN=Alice.*/$0!/", NAME + "!"),
        (r"RULE:CN=(\w+),OU=(\w+).*/$2\/$1@$3$22/", "Dept/Alice@$3Dept2"),
        (r"RULE:CN=(\w+).*/\$1/", "$1"),
        (r"RULE:CN=(\w+)(,UID=x)?,.*/$1$2/", "Alice"),
    ],
)
def test_the_first_rule_that_matches_counts(rules: str, principal: str | None) -> None:
    mapping = PrincipalMapping(rules)
    if principal is None:
        with pytest.raises(NoPrincipal, match=r"no rule of ssl.principal.mapping.rules matches CN=Alice"):
            mapping.principal(NAME)
    else:
        assert mapping.principal(NAME) == principal


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ("default", "'default' is neither DEFAULT nor RULE"),
        ("DEFAULT,RULE:a", "'RULE:a' is neither"),
        ("RULE:a/b/X", "'RULE:a/b/X' is neither"),
        ("RULE:(a/b/", "missing"),
    ],
)
def test_other_rules_are_refused(rules: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        PrincipalMapping(rules)
