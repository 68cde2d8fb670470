"""Templates are compiled once for all playbooks of a server, and not in the process of every task again."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import marshal
import operator
import os
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any


def install(folder: Path) -> None:
    """Change how this process and its forks compile templates and expressions; compiled code is kept in the folder."""
    from ansible._internal._templating import _jinja_bits
    from jinja2 import nodes
    from jinja2.environment import TemplateExpression

    folder.mkdir()
    environment = _jinja_bits.AnsibleEnvironment
    compiled, expression = environment.compile, environment.compile_expression
    options = operator.attrgetter(*OPTIONS)
    # What the expression that is being compiled is kept under.
    keys: list[str] = []

    def key(self: object, kind: str, source: str) -> str:
        context = _jinja_bits._TemplateCompileContext.current(optional=True)
        language: Any = type(self)
        return _digest(kind, str(source), language, context and context.escape_backslashes, options(self))

    def compile_template(self, source, name=None, filename=None, raw=False, defer_init=False):
        usual = name is None and filename is None and not raw and not defer_init
        if usual and isinstance(source, str):
            return _kept(folder / key(self, "template", source), lambda: compiled(self, source))
        if usual and keys:
            return _kept(folder / keys.pop(), lambda: compiled(self, source))
        return compiled(self, source, name, filename, raw, defer_init)

    def compile_expression(self, source: str, undefined_to_none: bool = True) -> TemplateExpression:
        own = key(self, "expression", source)
        keys.append(own)
        try:
            if own in _KNOWN or (folder / own).exists():
                return TemplateExpression(self.from_string(nodes.Template([], lineno=1)), undefined_to_none)
            return expression(self, source, undefined_to_none)
        finally:
            keys.clear()

    environment.compile = compile_template
    environment.compile_expression = compile_expression


# What a template may change about the language that it is in.
OPTIONS = (
    "block_start_string",
    "block_end_string",
    "variable_start_string",
    "variable_end_string",
    "comment_start_string",
    "comment_end_string",
    "line_statement_prefix",
    "line_comment_prefix",
    "trim_blocks",
    "lstrip_blocks",
    "newline_sequence",
    "keep_trailing_newline",
)


@functools.cache
def _digest(kind: str, source: str, language: Any, escapes: bool | None, options: tuple) -> str:
    words = [kind, source, language.__name__, str(escapes), *map(str, options)]
    return hashlib.sha256("\0".join(words).encode(errors="surrogatepass")).hexdigest()


# What this process and its forks need not read.
_KNOWN: dict[str, CodeType] = {}


def learn(folder: Path) -> None:
    """Take over what forks compiled meanwhile."""
    for entry in os.scandir(folder):
        # Unfinished files have a suffix.
        if entry.name not in _KNOWN and "." not in entry.name:
            with contextlib.suppress(OSError, EOFError, ValueError):
                _KNOWN[entry.name] = marshal.loads(Path(entry.path).read_bytes())


def _kept(file: Path, make: Callable[[], CodeType]) -> CodeType:
    if file.name in _KNOWN:
        return _KNOWN[file.name]
    with contextlib.suppress(OSError, EOFError, ValueError):
        _KNOWN[file.name] = marshal.loads(file.read_bytes())
        return _KNOWN[file.name]
    code = _KNOWN[file.name] = make()
    own = file.with_suffix(f".{os.getpid()}")
    own.write_bytes(marshal.dumps(code))
    own.replace(file)
    return code
