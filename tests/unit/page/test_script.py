"""The script that the page's modules become."""

from __future__ import annotations

import re
from pathlib import Path

from coordinator_server.page.files import STATIC
from coordinator_server.page.script import modules_of, script_of

APART = {"early.js", "login.js", "vendor/uplot-1.6.32.js"}
"""What documents and plots load by themselves."""


def test_modules_come_after_those_that_they_import(tmp_path: Path) -> None:
    (tmp_path / "vendor").mkdir()
    (tmp_path / "vendor" / "small.js").write_text("function a(){}const b=2;export{a as first,b};\n")
    (tmp_path / "below.js").write_text(
        'import { first as one } from "./vendor/small.js";\n\nexport const TWO = 2;\nexport async function three() { return one; }'
    )
    (tmp_path / "above.js").write_text(
        'import { first } from "./vendor/small.js";\nimport { TWO, three } from "./below.js";\n\nthree(TWO, first);\n'
    )
    names = modules_of(tmp_path, "above.js")

    assert names == ["vendor/small.js", "below.js", "above.js"]
    script = script_of(tmp_path, names)
    for line in (
        "return { first: a, b };",
        'const { first: one } = modules["vendor/small.js"];',
        "async function three() { return one; }",
        "return { TWO, three };",
        'const { TWO, three } = modules["below.js"];',
    ):
        assert line in script
    assert script.startswith('"use strict";')


def test_all_modules_of_the_page_are_in_its_script() -> None:
    """Nothing of them is left that only a module may say, and each name that one imports is one that another one exports."""
    names = modules_of(STATIC, "app.js")
    script = script_of(STATIC, names)

    assert {*names, *APART} == {str(each.relative_to(STATIC)) for each in STATIC.rglob("*.js")}
    assert not re.search(r"^(?:import|export)\b|\bexport\{|\bimport\(|import\.meta|^await ", script, re.MULTILINE)
    exports = {}
    for name, body in re.findall(r'^modules\["([^"]+)"\] = \(\(\) => \{\n(.*?)^\}\)\(\);', script, re.MULTILINE | re.DOTALL):
        fields = body.rsplit("return { ", 1)[1].partition(" };")[0]
        exports[name] = {each.partition(":")[0].strip() for each in fields.split(",")}
        for imported, of in re.findall(r'^const \{ (.+) \} = modules\["([^"]+)"\];', body, re.MULTILINE):
            assert {each.partition(":")[0].strip() for each in imported.split(",")} <= exports[of], name
    assert list(exports) == names
