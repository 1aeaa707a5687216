"""The mistakes that mutants make: a table of cosmic-ray's operators, and those that it lacks, behind the same interface.

An operator is asked for its positions in each node of a parso tree, and changes a node at one of them. The family is what the
reports say and what is drawn by, so that an operator with many positions on one line is not drawn more often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from cosmic_ray.operators import boolean_replacer, break_continue, comparison_operator_replacement, unary_operator_replacement
from cosmic_ray.operators.binary_operator_replacement import operators as binary_operators
from cosmic_ray.operators.number_replacer import NumberReplacer
from cosmic_ray.operators.operator import Example, Operator
from cosmic_ray.operators.zero_iteration_for_loop import ZeroIterationForLoop
from parso.python.tree import Name

Position = tuple[tuple[int, int], tuple[int, int]]
# Statements after which the rest of a block does not run.
_EXITS: Final = ("return", "raise", "continue", "break")
# Arguments that change nothing but what a mistake elsewhere would do, or how much memory there is.
ASSURANCES: Final = ("strict", "frozen", "slots", "gc")
_EXIT_TYPES: Final = ("return_stmt", "raise_stmt")


def _span(node: Any) -> Position:
    return node.start_pos, node.end_pos


def _replaced(node: Any, text: str) -> Any:
    """A leaf of this text, where the node begins."""
    return Name(text, node.start_pos, prefix=node.get_first_leaf().prefix)


class _Choice(Operator):  # type: ignore[misc]  # cosmic-ray has no types
    """An operator whose mutations of a node are a list: a position, and what does it."""

    def choices(self, node: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
        raise NotImplementedError

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        for place, _ in self.choices(node):
            yield _span(place)

    def mutate(self, node: Any, index: int) -> Any:
        return list(self.choices(node))[index][1]()


def _put(node: Any, index: int, new: Any) -> Callable[[], Any]:
    def change() -> Any:
        node.children[index] = new
        return node

    return change


def _is_exit(statement: Any) -> bool:
    return statement.type in _EXIT_TYPES or (statement.type == "keyword" and statement.value in _EXITS)


class DropStatement(_Choice):
    """A call whose result is not used, a change of an object, or a way out is forgotten."""

    def choices(self, node: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
        if node.type == "simple_stmt" and node.children[0].type != "newline" and self._is_dropped(node):
            yield node.children[0], _put(node, 0, _replaced(node.children[0], "pass"))

    def _is_dropped(self, node: Any) -> bool:
        statement = node.children[0]
        if statement.type == "expr_stmt":
            return _is_change(statement)
        if _is_exit(statement):
            return statement.type == "raise_stmt" or not _is_last_of_function(node)
        return statement.type == "del_stmt" or _is_call(statement)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (
            Example("f(x)\ng()\n", "pass\ng()\n"),
            Example("for x in y:\n    if x: continue\n    f(x)\n", "for x in y:\n    if x: pass\n    f(x)\n"),
            Example("self.a = 1\n", "pass\n"),
            Example("a += 1\n", "pass\n"),
            Example("raise E(1)\n", "pass\n"),
            Example("await f()\n", "pass\n"),
        )


def _is_call(statement: Any) -> bool:
    if statement.type in ("atom_expr", "power"):
        last = statement.children[-1]
        return bool(last.type == "trailer" and last.children[0].value == "(")
    return False


def _is_change(statement: Any) -> bool:
    """True for ``a += 1``, ``a.b = 1`` and ``a[b] = 1``. A name that is not assigned is an error that every checker finds."""
    target, how = statement.children[0], statement.children[1]
    if how.type == "annassign":
        return False
    if how.type != "operator" or how.value != "=":
        return True
    return bool(target.type in ("atom_expr", "power") and _function_of(statement) != "__init__")


def _function_of(node: Any) -> str:
    while node is not None and node.type != "funcdef":
        node = node.parent
    return "" if node is None else str(node.name.value)


def _is_last_of_function(node: Any) -> bool:
    suite = node.parent
    return bool(suite.type == "suite" and suite.children[-1] is node and suite.parent.type == "funcdef")


class ForceCondition(_Choice):
    """A guard is forgotten, or what it guards always happens."""

    def choices(self, node: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
        if node.type == "if_stmt":
            condition = node.children[1]
            yield condition, _put(node, 1, _replaced(condition, "False"))
            if not _ends_in_exit(node.children[3]):
                yield condition, _put(node, 1, _replaced(condition, "True"))

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("if a: b()\n", "if False: b()\n"), Example("if a: b()\n", "if True: b()\n", occurrence=1))


def _ends_in_exit(suite: Any) -> bool:
    last = suite.children[-1] if suite.type == "suite" else suite
    return bool(last.type == "simple_stmt" and _is_exit(last.children[0]))


class DropOperand(_Choice):
    """One of the conditions that ``and`` or ``or`` join is forgotten."""

    def choices(self, node: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
        if node.type in ("and_test", "or_test"):
            for index in range(0, len(node.children), 2):
                yield node.children[index], self._without(node, index)

    def _without(self, node: Any, index: int) -> Callable[[], Any]:
        def change() -> Any:
            first = node.get_first_leaf().prefix
            del node.children[max(index - 1, 0) : max(index - 1, 0) + 2]
            if index == 0:
                node.children[0].get_first_leaf().prefix = first
            return node

        return change

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("x = a and b", "x = b"), Example("x = a or b or c", "x = a or b", occurrence=2))


class SwapMembership(_Choice):
    """``in`` for ``not in``, and the other way round."""

    def choices(self, node: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
        if node.type == "comparison":
            for index in range(1, len(node.children), 2):
                operator = node.children[index]
                word = operator.get_code(include_prefix=False)
                if word in ("in", "not in"):
                    yield operator, _put(node, index, _replaced(operator, "not in" if word == "in" else "in"))

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("x = a in b", "x = a not in b"), Example("x = a not in b", "x = a in b"))


class SwapBounds(_Choice):
    """``min`` for ``max``, and the other way round."""

    NAMES: Final = {"min": "max", "max": "min"}

    def choices(self, node: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
        if node.type in ("atom_expr", "power"):
            name = node.children[0]
            if name.type == "name" and name.value in self.NAMES and node.children[1].children[0].value == "(":
                yield name, _put(node, 0, _replaced(name, self.NAMES[name.value]))

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("x = min(a, b)", "x = max(a, b)"),)


class DropKeyword(_Choice):
    """A keyword argument is forgotten, so that its default counts."""

    def choices(self, node: Any) -> Iterator[tuple[Any, Callable[[], Any]]]:
        if node.type != "trailer" or node.children[0].value != "(" or len(node.children) != 3:
            return
        arguments = node.children[1]
        if _is_keyword(arguments):
            yield arguments, self._without_all(node)
        elif arguments.type == "arglist":
            for index in range(2, len(arguments.children), 2):
                if _is_keyword(arguments.children[index]):
                    yield arguments.children[index], self._without(node, index)

    def _without_all(self, node: Any) -> Callable[[], Any]:
        def change() -> Any:
            del node.children[1]
            return node

        return change

    def _without(self, node: Any, index: int) -> Callable[[], Any]:
        def change() -> Any:
            del node.children[1].children[index - 1 : index + 1]
            return node

        return change

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("f(a, b=1)", "f(a)"), Example("f(b=1)", "f()"))


def _is_keyword(argument: Any) -> bool:
    if argument.type != "argument" or getattr(argument.children[1], "value", "") != "=":
        return False
    return argument.children[0].value not in ASSURANCES


def _named(operators: Any, *names: str) -> list[Operator]:
    found = {operator.__name__: operator for operator in operators}
    return [found[name]() for name in names]


def _comparisons(*pairs: str) -> list[Operator]:
    names = (f"ReplaceComparisonOperator_{pair}" for pair in pairs)
    return _named(comparison_operator_replacement.operators(), *names)


def _binary(*pairs: str) -> list[Operator]:
    return _named(binary_operators(), *(f"ReplaceBinaryOperator_{pair}" for pair in pairs))


# Of cosmic-ray's operators those that a tired hand's mistakes look like. `+` for `**` would only raise the ratio.
FAMILIES: Final[dict[str, list[Operator]]] = {
    "dropped statement": [DropStatement()],
    "forced condition": [ForceCondition()],
    "negated condition": [
        boolean_replacer.AddNot(),
        *_named(unary_operator_replacement.operators(), "ReplaceUnaryOperator_Delete_Not"),
    ],
    "dropped operand": [DropOperand()],
    "and/or": [boolean_replacer.ReplaceAndWithOr(), boolean_replacer.ReplaceOrWithAnd()],
    "bound": _comparisons("Lt_LtE", "LtE_Lt", "Gt_GtE", "GtE_Gt"),
    "comparison": [*_comparisons("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is"), SwapMembership()],
    "constant": [NumberReplacer(), boolean_replacer.ReplaceTrueWithFalse(), boolean_replacer.ReplaceFalseWithTrue()],
    "loop": [ZeroIterationForLoop(), break_continue.ReplaceBreakWithContinue(), break_continue.ReplaceContinueWithBreak()],
    "arithmetic": _binary(
        "Add_Sub", "Sub_Add", "Mul_FloorDiv", "FloorDiv_Mul", "Mod_FloorDiv", "BitAnd_BitOr", "LShift_RShift", "RShift_LShift"
    ),
    "min/max": [SwapBounds()],
    "dropped argument": [DropKeyword()],
}
