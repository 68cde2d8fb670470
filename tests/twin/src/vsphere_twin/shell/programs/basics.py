"""Programs of a busybox: echo, test, cat, grep and the like, over the few files that clients read."""

from __future__ import annotations

import re

from ..interpreter import Output, program

NO_SUCH_FILE = "No such file or directory"


@program("echo")
def echo(shell, argv, stdin):
    words = argv[1:]
    newline = True
    while words and words[0] in ("-n", "-e", "-ne", "-en"):
        newline = newline and "n" not in words[0]
        words = words[1:]
    return Output(" ".join(words) + ("\n" if newline else ""))


@program("printf")
def printf(shell, argv, stdin):
    text = argv[1].replace("\\n", "\n").replace("\\t", "\t") if argv[1:] else ""
    for value in argv[2:]:
        text = re.sub("%[sd]", lambda _match, value=value: value, text, count=1)
    return Output(re.sub("%[sd]", "", text).replace("%%", "%"))


@program("false")
def false(shell, argv, stdin):
    return Output(rc=1)


@program("cat")
def cat(shell, argv, stdin):
    if not argv[1:]:
        return Output(stdin())
    out, errors = "", ""
    for path in argv[1:]:
        text = shell.files().get(path)
        if text is None:
            errors += f"cat: can't open '{path}': {NO_SUCH_FILE}\n"
        else:
            out += text
    return Output(out, 1 if errors else 0, errors)


@program("ls")
def ls(shell, argv, stdin):
    out, errors = "", ""
    for path in [word for word in argv[1:] if not word.startswith("-")]:
        if _exists(shell, path):
            out += f"{path}\n"
        else:
            errors += f"ls: {path}: {NO_SUCH_FILE}\n"
    return Output(out, 1 if errors else 0, errors)


@program("test", "[")
def test(shell, argv, stdin):
    words = argv[1:-1] if argv[0] == "[" and argv[-1:] == ["]"] else argv[1:]
    negate = words[:1] == ["!"]
    holds = _holds(shell, words[1:] if negate else words)
    return Output(rc=0 if holds != negate else 1)


@program("grep", "egrep")
def grep(shell, argv, stdin):
    options = "".join(word[1:] for word in argv[1:] if word.startswith("-") and len(word) > 1)
    words = [word for word in argv[1:] if not word.startswith("-") or len(word) == 1]
    if not words:
        return Output("", 2, "BusyBox: grep: no pattern\n")
    text = stdin() if not words[1:] else "".join(shell.files().get(path, "") for path in words[1:])
    try:
        pattern = re.compile(
            words[0] if "E" in options or argv[0] == "egrep" else words[0].replace("\\|", "|"),
            re.IGNORECASE if "i" in options else 0,
        )
    except re.error:
        return Output("", 2, f"grep: bad regex '{words[0]}'\n")
    found = [line for line in text.splitlines() if bool(pattern.search(line)) != ("v" in options)]
    if "q" in options:
        return Output(rc=0 if found else 1)
    if "c" in options:
        return Output(f"{len(found)}\n", 0 if found else 1)
    return Output("".join(f"{line}\n" for line in found), 0 if found else 1)


@program("head", "tail")
def head(shell, argv, stdin):
    if argv[1:2] == ["-c"]:
        most = int(argv[2])
        text = stdin()
        return Output(text[:most] if argv[0] == "head" else text[-most:])
    count = next((int(word.lstrip("-n")) for word in argv[1:] if word.lstrip("-n").isdigit()), 10)
    lines = stdin().splitlines(keepends=True)
    return Output("".join(lines[:count] if argv[0] == "head" else lines[-count:]))


@program("wc")
def wc(shell, argv, stdin):
    return Output(f"{len(stdin().splitlines())}\n")


@program("which", "type")
def which(shell, argv, stdin):
    found = [word for word in argv[1:] if shell.find(word)]
    return Output("".join(f"/bin/{word}\n" for word in found), 0 if len(found) == len(argv[1:]) else 1)


@program("hostname")
def hostname(shell, argv, stdin):
    return Output(f"{shell.host.name}\n")


@program("id", "whoami")
def whoami(shell, argv, stdin):
    return Output("root\n" if argv[0] == "whoami" or "-un" in argv else "uid=0(root) gid=0(root)\n")


@program("uname")
def uname(shell, argv, stdin):
    release = shell.host.release
    words = {"-s": "VMkernel", "-n": shell.host.name, "-r": release.version, "-m": "x86_64"}
    if "-a" in argv:
        version = f"#1 SMP Release build-{release.build}"
        return Output(f"VMkernel {shell.host.name} {release.version} {version} x86_64 x86_64 x86_64 ESXi\n")
    return Output(" ".join(words[word] for word in argv[1:] if word in words) + "\n" if argv[1:] else "VMkernel\n")


@program("vmware")
def vmware(shell, argv, stdin):
    release = shell.host.release
    if "-l" in argv:
        return Output(f"VMware ESXi {release.version} Update {release.update}\n")
    return Output(f"VMware ESXi {release.version} build-{release.build}\n")


@program("python", "python3", "/bin/python3", "/usr/bin/python3")
def python(shell, argv, stdin):
    """ESXi's own interpreter: it prints its version and executes no third-party code."""
    version = "3.8.16" if shell.host.release.at_least(8, 0, 0) else "3.8.3"
    if argv[1:] in (["--version"], ["-V"]):
        return Output(f"Python {version}\n")
    return Output("", 126, f"sh: {argv[0]}: Operation not permitted\n")


def _exists(shell, path):
    return path in shell.files() or shell.find(path) is not None or path in ("/", "/etc", "/tmp", "/opt", "/bin")


def _holds(shell, words):
    if len(words) == 2 and words[0] in ("-f", "-e", "-x", "-r", "-d", "-s"):
        return _exists(shell, words[1])
    if len(words) == 2 and words[0] in ("-n", "-z"):
        return bool(words[1]) == (words[0] == "-n")
    if len(words) == 3 and words[1] in ("=", "==", "!="):
        return (words[0] == words[2]) != (words[1] == "!=")
    if len(words) == 3 and words[1] in ("-eq", "-ne", "-gt", "-lt") and all(w.isdigit() for w in (words[0], words[2])):
        one, two = int(words[0]), int(words[2])
        return {"-eq": one == two, "-ne": one != two, "-gt": one > two, "-lt": one < two}[words[1]]
    return len(words) == 1 and bool(words[0])
