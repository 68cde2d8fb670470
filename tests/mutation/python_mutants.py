"""The mutants of a Python file: small changes of its syntax tree, written into its text where they belong."""

from __future__ import annotations

import ast
import copy
import itertools

from mutation.mutant import Mutant, replaced

OPPOSITES: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
}
# A statement that can be left out without the name of a variable going missing.
REMOVABLE = (ast.Expr, ast.AugAssign, ast.Raise, ast.Continue, ast.Break)
# Calls that mean the same with their arguments in another order.
UNORDERED = ("min", "max", "suppress")
TEXTS = ast.Constant, ast.JoinedStr, ast.List, ast.Tuple


def python_mutants(file: str, text: str) -> list[Mutant]:
    """Every mutant of the file; some may compile to the same code, see `differs`."""
    collector = _Collector(file, text)
    collector.visit(ast.parse(text))
    return collector.found


def differs(mutant: Mutant, text: str) -> bool:
    """Return whether Python compiles the mutant, and to other code than the original's."""
    try:
        changed = compile(replaced(text, mutant), mutant.file, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return changed != compile(text, mutant.file, "exec", dont_inherit=True)


def _negated(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    return ast.UnaryOp(ast.Not(), node)


class _Collector(ast.NodeVisitor):
    """Walks over a file; leaves out documentation, annotations and the words of messages."""

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        sizes = [len(line) for line in text.encode().splitlines(keepends=True)]
        self.starts = [0, *itertools.accumulate(sizes)]
        self.found: list[Mutant] = []
        # The qualified name of where the walk is, as Python's code objects have it.
        self.scope: list[str] = []
        self.in_function = False

    def change(self, node: ast.expr | ast.stmt, kind: str, new: ast.AST | str) -> None:
        """Add the mutant that replaces a node with `new`."""
        text = new if isinstance(new, str) else f"({ast.unparse(new)})"
        self.found.append(
            Mutant(
                file=self.file,
                line=node.lineno,
                begin=self._offset(node.lineno, node.col_offset),
                end=self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0),
                kind=kind,
                after=text,
                function=".".join(self.scope),
            )
        )

    def _offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    # Code that is never changed.

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_Raise(self, node: ast.Raise) -> None:
        pass  # its words are for people; that it is raised at all is a statement

    # Starts of functions and classes.

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node, function=False)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self._inside(node, function=True)

    def _inside(self, node: ast.ClassDef | ast.FunctionDef, function: bool) -> None:
        names = ["<locals>", node.name] if self.in_function else [node.name]
        outside, self.in_function = self.in_function, function
        self.scope += names
        self._statements(node.body)
        del self.scope[-len(names) :]
        self.in_function = outside

    def visit_Module(self, node: ast.Module) -> None:
        self._statements(node.body)

    def _statements(self, body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)) or _is_text(statement):
                continue
            if self._removable(statement):
                self.change(statement, "statement removed", "pass")
            self.visit(statement)

    def _removable(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Assign):
            return all(isinstance(target, (ast.Attribute, ast.Subscript)) for target in statement.targets)
        return isinstance(statement, REMOVABLE)

    def generic_visit(self, node: ast.AST) -> None:
        for _name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self._statements(value)
            elif isinstance(value, list):
                for entry in value:
                    if isinstance(entry, ast.AST):
                        self.visit(entry)
            elif isinstance(value, ast.AST):
                self.visit(value)

    # Code to change.

    def visit_Compare(self, node: ast.Compare) -> None:
        for place, operator in enumerate(node.ops):
            for other in OPPOSITES[type(operator)]:
                new = copy.deepcopy(node)
                new.ops[place] = other()
                self.change(node, "comparison", new)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        self.change(node, "and/or", ast.BoolOp(other, node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.change(node, "not dropped", node.operand)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        other = ARITHMETIC.get(type(node.op))
        texts = any(isinstance(side, TEXTS) and not _is_number(side) for side in (node.left, node.right))
        if other and not texts:
            self.change(node, "arithmetic", ast.BinOp(node.left, other(), node.right))
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        if not isinstance(node.test, ast.Name) or node.test.id != "TYPE_CHECKING":
            self.change(node.test, "condition negated", _negated(node.test))
            self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self.change(node.test, "condition negated", _negated(node.test))
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self.change(node.test, "condition negated", _negated(node.test))
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self.change(condition, "condition negated", _negated(condition))
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.change(node, "constant", repr(not node.value))
        elif isinstance(node.value, (int, float)):
            self.change(node, "constant", repr(node.value + 1))
            self.change(node, "constant", f"({node.value - 1!r})")

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
            self.change(node.value, "return value", "None")
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        first_two = node.args[:2]
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if (
            len(first_two) == 2
            and called not in UNORDERED
            and not any(isinstance(one, ast.Starred) or _is_message(one) for one in first_two)
        ):
            new = copy.copy(node)
            new.args = [node.args[1], node.args[0], *node.args[2:]]
            self.change(node, "arguments swapped", new)
        self.generic_visit(node)


def _is_text(statement: ast.stmt) -> bool:
    """A docstring, or a text at the top such as DOCUMENTATION."""
    value = statement.value if isinstance(statement, (ast.Expr, ast.Assign)) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _is_message(node: ast.expr) -> bool:
    """Words for people."""
    return isinstance(node, ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value
    )


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
