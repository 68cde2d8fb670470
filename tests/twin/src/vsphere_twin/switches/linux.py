"""The shell of switches that are Linux: the twin's shell words, the programs of the platform, users and sudo."""

from __future__ import annotations

from dataclasses import dataclass

from ..shell import interpreter
from ..shell.interpreter import HungUp, Output
from .dialogue import Dialogue, Reply

# Programs of the ESXi shell that any Unix has.
COMMON = ("echo", "printf", "false", "cat", "ls", "test", "[", "grep", "egrep", "head", "tail", "wc", "which", "type")
FOLDERS = ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/cumulus/bin")
IN_MEMORY = ("/run/", "/dev/shm/")
NO_SPACE = "No space left on device"


@dataclass
class LinuxShell(interpreter.Shell):
    """One session of a user on a switch; host is the PhysicalSwitch, whose device has `files`: {path: text}."""

    user: str = "admin"

    SHELLS = (*interpreter.Shell.SHELLS, "bash", "/bin/bash")

    @classmethod
    def of(cls, switch, user):
        home = "/root" if user == "root" else f"/home/{user}"
        variables = {"HOME": home, "USER": user, "PATH": ":".join(FOLDERS), "PWD": home}
        return cls(switch.world, switch, variables, user=user)

    def find(self, name):
        folder, _slash, base = name.rpartition("/")
        if folder and folder not in FOLDERS:
            return None
        found = self.host.device.programs().get(base) or _OWN.get(base)
        return found or (interpreter.find_program(base) if base in COMMON else None)

    def execute(self, argv, stdin=str):
        """Run one program under the world's lock; its faults are those of the switch."""
        found = self.find(argv[0])
        if found is None:
            return self.missing(argv[0])
        if argv[0].rpartition("/")[2] not in self.host.device.programs():
            return found(self, argv, stdin)  # reads and writes texts alone: no line that a plan means
        line = interpreter.planned_line(argv)
        self.host.lines.append(line)
        fault = self.host.faults.take(line)
        if fault is not None and fault.without_effect:
            return _failed(fault)
        with self.world.lock:
            output = found(self, argv, self._unlocked(stdin))
            self.world.fabric.settle()
        return output if fault is None else _failed(fault)

    def missing(self, name):
        return Output("", interpreter.NOT_FOUND, f"-bash: {name}: command not found\n")

    def files(self):
        return {"/dev/null": "", "/etc/hostname": f"{self.host.name}\n", **self.stored}

    @property
    def stored(self):
        """The files that can be written, by their paths."""
        return self.host.device.files

    def write(self, path, text, append=False):
        """Write text into a file of the switch; return the failure, or None."""
        if self.host.full_flash and not path.startswith(IN_MEMORY):
            return NO_SPACE
        if self.user != "root" and not path.startswith(("/tmp/", f"{self.variables.get('HOME', '/')}/")):
            return "Permission denied"
        self.stored[path] = (self.stored.get(path, "") if append else "") + text
        return None

    def _unlocked(self, stdin):
        """Release the lock: input comes from the network, and other clients must not wait for it."""

        def read():
            state = self.world.lock._release_save()
            try:
                return stdin()
            finally:
                self.world.lock._acquire_restore(state)

        return read


class ShellDialogue(Dialogue):
    """A shell for a person at a terminal."""

    MORE = None

    def __init__(self, switch, username):
        super().__init__(switch, username)
        self.page_lines = 0
        self.shell = LinuxShell.of(switch, username)

    def prompt(self):
        return f"{self.username}@{self.switch.name}:~$ "

    def run(self, line):
        output = self.shell.run(line, str)
        return Reply(output.stdout + output.stderr, close=line.split()[:1] == ["exit"])


def _failed(fault):
    if fault.hangs_up:
        raise HungUp
    text = fault.text or "Error: the command failed."
    return Output("", 1, text if text.endswith("\n") else f"{text}\n")


def _sudo(shell, argv, stdin):
    """sudo for users who need no password."""
    words, user = list(argv[1:]), "root"
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option == "--":
            break
        if option in ("-u", "--user", "-p", "--prompt", "-g") and words:
            value = words.pop(0)
            user = value if option in ("-u", "--user") else user
        elif option.strip("-HSnEkbi"):
            return Output("", 1, f"sudo: invalid option -- '{option.lstrip('-')[:1]}'\n")
    if user != "root" and user not in shell.host.users:
        return Output("", 1, f"sudo: unknown user {user}\n")
    child = LinuxShell.of(shell.host, user)
    child.variables["SUDO_USER"] = shell.user
    child.emit = shell.emit
    while words and "=" in words[0] and not words[0].startswith("="):
        name, _equals, value = words.pop(0).partition("=")
        child.variables[name] = value
    if not words:
        return Output("", 1, "usage: sudo [-HSn] [-u user] command [arg ...]\n")
    return child.call(words, stdin)


def _whoami(shell, argv, stdin):
    if argv[0].endswith("whoami") or "-un" in argv:
        return Output(f"{shell.user}\n")
    number = 0 if shell.user == "root" else 1000
    return Output(f"{number}\n" if "-u" in argv else f"uid={number}({shell.user}) gid={number}({shell.user})\n")


def _hostname(shell, argv, stdin):
    return Output(f"{shell.host.name}\n")


def _uname(shell, argv, stdin):
    return Output(f"Linux {shell.host.name} x86_64 GNU/Linux\n" if "-a" in argv else "Linux\n")


def _rm(shell, argv, stdin):
    errors = ""
    for path in [word for word in argv[1:] if not word.startswith("-")]:
        if shell.stored.pop(path, None) is None and "-f" not in argv:
            errors += f"rm: cannot remove '{path}': No such file or directory\n"
    return Output("", 1 if errors else 0, errors)


def _mktemp(shell, argv, stdin):
    path = f"/tmp/tmp.{len(shell.stored):010}"
    problem = shell.write(path, "")
    return Output(f"{path}\n") if problem is None else Output("", 1, f"mktemp: failed to create file: {problem}\n")


def _tee(shell, argv, stdin):
    text = stdin()
    paths = [word for word in argv[1:] if not word.startswith("-")]
    problems = [(path, shell.write(path, text, "-a" in argv)) for path in paths]
    errors = "".join(f"tee: {path}: {problem}\n" for path, problem in problems if problem)
    return Output(text, 1 if errors else 0, errors)


_OWN = {
    "sudo": _sudo,
    "id": _whoami,
    "whoami": _whoami,
    "hostname": _hostname,
    "uname": _uname,
    "rm": _rm,
    "mktemp": _mktemp,
    "tee": _tee,
}
