"""Shell on a host: it runs the words of a line with the programs of the table. It touches nothing of this machine."""

from __future__ import annotations

import functools
import importlib
import pkgutil
import re
import shlex
import threading
from dataclasses import dataclass, field, replace

from .words import BadSyntax, Group, parse

NOT_FOUND, SYNTAX = 127, 2
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+)|(\?))")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")

_programs = {}
_loading = threading.Lock()


class HungUp(Exception):
    """The connection is gone: the command took effect, and its output is lost."""


def _nothing():
    return ""


@dataclass
class Output:
    """Output of a program."""

    stdout: str = ""
    rc: int = 0
    stderr: str = ""


@dataclass
class Shell:
    """One session of root on a host."""

    world: object
    host: object
    variables: dict = field(default_factory=lambda: {"HOME": "/", "USER": "root", "PATH": "/bin:/sbin", "PWD": "/"})
    status: int = 0
    emit: object = None  # f(stdout, stderr), for output that must not wait for the end of the line

    SHELLS = ("/bin/sh", "sh", "/bin/ash", "ash")

    def run(self, line, stdin=_nothing):
        """Run a line as /bin/sh would; stdin is called by the first program that reads its input."""
        try:
            program = parse(line)
        except BadSyntax as problem:
            return Output("", SYNTAX, f"sh: {problem}\n")
        try:
            return self._list(program, stdin)
        except _Exit as left:
            return Output(left.stdout, left.rc, left.stderr)

    def find(self, name):
        """Return the program of a name here, or None."""
        return find_program(name)

    def missing(self, name):
        """Return the message for a missing program."""
        return missing(name)

    def files(self):
        """The text files that can be read here, by their paths."""
        release = self.host.release
        return {
            "/etc/vmware-release": f"VMware ESXi {release.version}\n",
            "/etc/hostname": f"{self.host.name}\n",
            "/dev/null": "",
        }

    def write(self, path, text, append=False):
        """Put text into a file; answers why not, or None."""
        return "Operation not permitted"

    def execute(self, argv, stdin=_nothing):
        """Run one program with its arguments."""
        found = self.find(argv[0])
        if found is None:
            return self.missing(argv[0])
        fault = self.world.command_faults.take(self.host.name, planned_line(argv))
        if fault is not None and not fault.after:
            return Output("", fault.rc, _ended(fault.text))
        output = found(self, argv, stdin)
        if fault is not None and fault.hangs_up:
            raise HungUp
        return output if fault is None else Output("", fault.rc, _ended(fault.text))

    def _list(self, program, stdin):
        whole = Output()
        for joiner, pipeline in program:
            if joiner == "&&" and self.status != 0 or joiner == "||" and self.status == 0:
                continue
            try:
                part = self._pipeline(pipeline, stdin)
            except _Exit as left:
                raise _Exit(left.rc, whole.stdout + left.stdout, whole.stderr + left.stderr) from None
            if self.emit is not None:
                self.emit(part.stdout, part.stderr)
            else:
                whole.stdout += part.stdout
                whole.stderr += part.stderr
            self.status = whole.rc = part.rc
        return whole

    def _pipeline(self, stages, stdin):
        kept = self.emit
        if stages[1:] or getattr(stages[0], "redirects", None):
            self.emit = None  # its output is redirected
        try:
            return self._stages(stages, stdin)
        finally:
            self.emit = kept

    def _stages(self, stages, stdin):
        errors, output, given = "", Output(), stdin
        for stage in stages:
            if isinstance(stage, Group):
                inner = self._child(status=self.status)
                output = inner._subshell(stage.body, given)
            else:
                output = self._simple(stage, given)
            errors += output.stderr
            given = functools.partial(str, output.stdout)
        return Output(output.stdout, output.rc, errors)

    def _subshell(self, body, stdin):
        try:
            return self._list(body, stdin)
        except _Exit as left:
            return Output(left.stdout, left.rc, left.stderr)

    def _simple(self, command, stdin):
        words = list(command.words)
        assigned = {}
        while words and _ASSIGNMENT.match(words[0].parts[0].text) and not words[0].parts[0].quoted:
            name, _equals, value = self._expand(words.pop(0))[0].partition("=")
            assigned[name] = value
        argv = [text for word in words for text in self._expand(word)]
        redirects = [(operator, self._target(target)) for operator, target in command.redirects]
        for operator, where in redirects:
            if operator in (">", ">>", "2>") and where != "/dev/null":
                problem = self.write(where, "", append=operator == ">>")
                if problem is not None:
                    return Output("", 1, f"sh: can't create {where}: {problem}\n")
            if operator == "<":
                if where not in self.files():
                    return Output("", 1, f"sh: can't open {where}: no such file\n")
                stdin = functools.partial(str, self.files()[where])
        if not argv:
            self.variables.update(assigned)
            return Output()
        kept, self.variables = self.variables, {**self.variables, **assigned}
        try:
            output = self.call(argv, stdin)
        finally:
            self.variables = kept
        return self._redirected(output, redirects)

    def _redirected(self, output, redirects):
        """The output after its redirections: into files, to nowhere, or the two streams as one."""
        for operator, where in redirects:
            if operator == "2>&1":
                output = Output(output.stdout + output.stderr, output.rc)
            elif operator in (">", ">>"):
                problem = None if where == "/dev/null" else self.write(where, output.stdout, append=True)
                failed = "" if problem is None else f"sh: write error: {problem}\n"
                output = Output("", 1 if failed else output.rc, output.stderr + failed)
            elif operator == "2>":
                if where != "/dev/null":
                    self.write(where, output.stderr, append=True)
                output = Output(output.stdout, output.rc)
        return output

    def _child(self, **changes):
        return replace(self, **{"variables": dict(self.variables), "status": 0, **changes})

    def call(self, argv, stdin=_nothing):
        """Run a word of the shell itself, or a program."""
        if argv[0] == "exit":
            raise _Exit(int(argv[1]) if argv[1:] and argv[1].isdigit() else self.status)
        if argv[0] in ("export", "unset", "set", "umask", ":", "cd", "true", "sleep"):
            return Output()
        if argv[0] in self.SHELLS and argv[1:2] in (["-c"], ["-ec"]) and len(argv) > 2:
            return self._child().run(argv[2], stdin)
        if argv[0] in ("exec", "command", "env", "nohup") and argv[1:] and not argv[1].startswith("-"):
            return self.call(argv[1:], stdin)
        return self.execute(argv, stdin)

    def _target(self, word):
        return "".join(self._expand(word)) if word is not None else None

    def _expand(self, word):
        """Expand the variables of a word; unquoted text is split at blanks."""
        text, quoted = "", False
        split = False
        if word.plain() in ("~", f"~{self.variables.get('USER')}") and not word.parts[0].quoted:
            return [self.variables.get("HOME", "/")]
        for part in word.parts:
            quoted = quoted or part.quoted
            if part.literal:
                text += part.text
                continue
            filled = _VARIABLE.sub(self._value, part.text).replace("\0", "$")
            split = split or (filled != part.text and not part.quoted)
            text += filled
        if split and not quoted:
            return text.split()
        return [text]

    def _value(self, match):
        if match[3]:
            return str(self.status)
        return self.variables.get(match[1] or match[2], "")


class _Exit(Exception):
    def __init__(self, rc, stdout="", stderr=""):
        super().__init__(rc)
        self.rc, self.stdout, self.stderr = rc, stdout, stderr


def missing(name):
    """Return the shell's message for a missing program."""
    return Output("", NOT_FOUND, f"sh: {name}: not found\n")


def program(*names):
    """Register a program under its names; a path is found by the path alone: f(shell, argv, stdin) -> Output."""

    def register(function):
        for name in names:
            if name in _programs:
                raise ValueError(f"{name} is there already.")
            _programs[name] = function
        return function

    return register


def find_program(name):
    """Return the program of a name or a path, or None."""
    # Several sessions may begin at once: none may read half a table.
    with _loading:
        _load()
    if name in _programs:
        return _programs[name]
    folder, _slash, base = name.rpartition("/")
    return _programs.get(base) if folder in ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/lib/vmware/bin") else None


@functools.cache
def _load():
    package = importlib.import_module(f"{__package__}.programs")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


def planned_line(argv):
    """Return a command in the form of plans: without its folder, and without the output format of esxcli."""
    name, rest = argv[0].rpartition("/")[2], argv[1:]
    if name == "esxcli":
        rest = [word for word in rest if not word.startswith("--formatter")]
    return shlex.join([name, *rest])


def _ended(text):
    return text if not text or text.endswith("\n") else f"{text}\n"
