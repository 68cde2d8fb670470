"""Definition of an esxcli command: its arguments, its result, and its refusals."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import threading
from dataclasses import dataclass, field

from pyVmomi import vmodl

from vsphere_twin.model import kernel, software

BOOL, INT, TEXT = "boolean", "long", "string"
HEX = "hex"  # a number that text shows as 0x10de
FAULT_SUMMARY = "EsxCLI.CLIFault.summary"

_commands = {}
_loading = threading.Lock()


class Refused(Exception):
    """Refusal of a command; the lines are those of the vendor's own command."""

    def __init__(self, *lines):
        super().__init__("\n".join(lines))
        self.lines = lines


class Unknown(Exception):
    """There is no such command, or no such argument."""


@dataclass(frozen=True)
class Argument:
    """One option of a command."""

    long: str
    short: str = ""
    type: str = TEXT
    required: bool = False
    many: bool = False
    flag: bool = False  # without a value on the command line; others take one
    choices: tuple = ()

    @property
    def name(self):
        """Its name on the wire: the long option without dashes."""
        return self.long.replace("-", "")

    @property
    def option(self):
        """Return the name of the option in the usage text."""
        return f"--{self.long}|-{self.short}" if self.short else f"--{self.long}"


@dataclass(frozen=True)
class Structure:
    """Fields of a command's result, in the order of the text output."""

    name: str
    labels: tuple  # as text shows them; a structured form leaves out the blanks
    types: dict = field(default_factory=dict)  # by label; string where none is named
    lists: tuple = ()
    hidden: tuple = ()  # fields that only structured forms show
    header: str | None = None  # a text, or the field in <angle brackets> that heads each entry

    def type_of(self, label):
        return self.types.get(label, TEXT)

    def fields(self):
        """(name, label, type, is a list) of every field, as structured forms order them."""
        labels = sorted((*self.labels, *self.hidden), key=wire_name)
        return [(wire_name(label), label, self.type_of(label), label in self.lists) for label in labels]


@dataclass(frozen=True)
class Rows:
    """Entries of one structure."""

    structure: Structure
    entries: list  # dicts by label; a missing one is empty
    table: bool = False  # a table on the command line, or else a block for each


@dataclass(frozen=True)
class Single:
    """One entry of a structure."""

    structure: Structure
    entry: dict


@dataclass(frozen=True)
class Command:
    """A command: its arguments, and the function f(world, host, **arguments) that serves it."""

    name: str
    help: str
    arguments: tuple
    function: object

    @property
    def namespace(self):
        return self.name.rpartition(".")[0]


def wire_name(label):
    """'Acceptance Level' as AcceptanceLevel."""
    return label.replace(" ", "").replace("-", "")


def command(name, text, *arguments):
    """Register the function that serves a command."""

    def register(function):
        if name in _commands:
            raise ValueError(f"{name} is there already.")
        _commands[name] = Command(name, text, arguments, function)
        return function

    return register


def table():
    """Return all commands by name."""
    # Several hosts may get their first request at once: none may read half a table.
    with _loading:
        _load()
    return _commands


@functools.cache
def _load():
    """Import everything that registers itself."""
    package = importlib.import_module(f"{__package__}.commands")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


def run(world, host, name, arguments):
    """Run a command with typed arguments under the world's lock; a seed may set its duration."""
    found = table().get(name)
    if found is None:
        raise Unknown(name)
    with world.changed:
        host.esxcli_calls[name] += 1
        seconds = world.task_seconds.get(f"esxcli.{name}")
        if seconds:
            world.changed.wait_for(lambda: world.closed, seconds)
        try:
            return found.function(world, host, **arguments)
        except software.Refused as problem:
            raise Refused(*problem.lines) from problem
        except kernel.Refused as problem:
            raise Refused(*str(problem).splitlines()) from problem
        except vmodl.MethodFault as fault:
            raise Refused(fault.msg or type(fault).__name__) from fault


def typed(argument, texts):
    """The value of an argument as text gives it; Refused where it has the wrong type."""
    values = [_typed(argument, text) for text in texts]
    return values if argument.many else values[-1]


def _typed(argument, text):
    if argument.choices and text.lower() not in [choice.lower() for choice in argument.choices]:
        raise Refused(f"Invalid data constraint for parameter '{argument.long}'.")
    if argument.type == BOOL:
        word = text.strip().lower()
        if word not in ("true", "false", "1", "0", "t", "f", "yes", "no"):
            raise Refused(f"Invalid data constraint for parameter '{argument.long}'.")
        return word in ("true", "1", "t", "yes")
    if argument.type == INT:
        try:
            return int(text, 0)
        except ValueError:
            raise Refused(f"Invalid data constraint for parameter '{argument.long}'.") from None
    return text
