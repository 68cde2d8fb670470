"""ansible-test sanity without containers, on every installed Python, and with cores besides that of the lock."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

from gates import pythons, venvs
from gates.running import BUILD, HOME, LOGS, PYTHON, ROOT, VENV, Gate, GateFailed, environment
from gates.tree import clean_copy, digest, shipped
from rehearse.playbook import PROGRAMS
from turns import number_of_commit

# The Pythons that the oldest core runs on and that the tools are installed with.
OLDEST_CORE_MINORS = (11, 12)
# One commit out of this number runs everything with the oldest core: preflight, and the rehearsal with guests.
# The next one runs preflight only, and the one after it the rehearsal without guests only.
WITH_GUESTS = 3
PREFLIGHT, INFRASTRUCTURE = 1, 2
# The commit out of this number that runs the newest modules of other collections against the twin: it has no guests.
NEWEST_MODULES = 2
# Python minor version on which every file is compiled and imported. The newest core does that on the newest Python, and
# the tests do it on the Python of the tools. Code that works on these works between them: Python removes modules and
# syntax in one direction only.
OLDEST = 8
PER_PYTHON = ["compile", "import"]
# The content of the files for which the gate passed last.
PASSED = LOGS / "sanity.passed"
# Python versions that support the newest core: one of them is enough, as it is the same core.
NEWEST_CORE_MINORS = (12, 13)
# Unit tests below these that use nothing of Ansible are the same on every core.
PURE = ("module_utils", "plugin_utils/validation/report")
USES_ANSIBLE = re.compile(r"^\s*(?:from|import) ansible[ .]", re.MULTILINE)
# Checks that a newer core judges differently; all others would repeat the same check of the same text.
NEWER_CORE_TESTS = ["ansible-doc", "import", "runtime-metadata", "validate-modules"]


def sanity(gate: Gate) -> None:
    """Run all sanity tests on the shipped files, with the core of the lock file.

    Tests are not shipped, and ruff checks them. What has passed is not checked again until a shipped file, a tool or a
    Python is another. A clean clone, such as that of .ci/run, has passed nothing yet.
    """
    copy = clean_copy("sanity", shipped)
    lock = (ROOT / "requirements" / "tools.txt").read_text()
    gates = "".join(Path(__file__).with_name(name).read_text() for name in ("sanity.py", "tree.py"))
    content = digest(copy, lock, gates, str(pythons.find(OLDEST)), PYTHON)
    if os.environ.get("AIREADY_ENGINE") != "required" and PASSED.exists() and PASSED.read_text() == content:
        gate.notes.append("not repeated: it passed for the same files")
        return
    PASSED.unlink(missing_ok=True)
    _collect_less_often(gate, copy)
    skipped = [argument for name in PER_PYTHON for argument in ("--skip-test", name)]
    _ansible_test(gate, VENV, copy, skipped, set())
    chosen = [argument for name in PER_PYTHON for argument in ("--test", name)]
    if pythons.find(OLDEST) is None:
        gate.notes.append(f"skipped: Python 3.{OLDEST} is not installed")
    else:
        _ansible_test(gate, VENV, copy, ["--python", f"3.{OLDEST}", *chosen], {OLDEST})
        PASSED.write_text(content)


def _collect_less_often(gate: Gate, copy: Path) -> None:
    """Have pylint collect garbage less often, which is a quarter of its time: it holds trees of all files at once."""
    _ansible_test(gate, VENV, copy, ["--prime-venvs", "--test", "pylint"], set())
    found = (HOME / VENV.name).glob(".ansible/test/venv/sanity.pylint/*/*/lib/python3.*/site-packages")
    for packages in found:
        (packages / "garbage.pth").write_text("import gc; gc.set_threshold(20_000, 10, 10)\n")


def newest_core(gate: Gate) -> None:
    """Imports, documentation and unit tests on the newest core, and by turns the newest modules of others."""
    minor, python = _newest(NEWEST_CORE_MINORS)
    if python is None:
        gate.notes.append("skipped: neither Python 3.12 nor 3.13 is installed")
        return
    venv = venvs.of_lock(gate, python, "core-newest", "newer-core")
    tests = [argument for name in NEWER_CORE_TESTS for argument in ("--test", name)]
    _ansible_test(gate, venv, clean_copy(venv.name, shipped), ["--python", f"3.{minor}", *tests], {minor})
    number = number_of_commit()
    others = modules_of_others(number)
    if not others:
        gate.notes.append(f"without the newest modules of other collections on commit {number}")
    gate.pytest(str(venv / "bin" / "python"), [*_tests_of_ansible(), *others], environment(venv))


def modules_of_others(number: int) -> list[str]:
    """Tests of modules of other collections against the twin, if it is the turn of this commit."""
    if number % WITH_GUESTS != NEWEST_MODULES:
        return []
    # Sushy, which tests the BMCs, is no client of vCenter and has no newer release for a newer core.
    files = sorted((ROOT / "tests" / "wire").glob("test_third_party_*.py"))
    return [path.relative_to(ROOT).as_posix() for path in files if path.stem != "test_third_party_redfish"]


def _tests_of_ansible() -> list[str]:
    """Unit tests of code that uses Ansible; pure functions are the same on every core."""
    tests = ROOT / "tests" / "unit" / "plugins"
    chosen = [tests / "module_utils" / "core" / "test_runner.py"]
    for path in sorted(tests.rglob("test_*.py")):
        pure = any(tests / folder in path.parents for folder in PURE)
        if not pure or USES_ANSIBLE.search(path.read_text()):
            chosen.append(path)
    return [path.relative_to(ROOT).as_posix() for path in chosen]


def oldest_core(gate: Gate) -> None:
    """Run playbooks with the oldest core and a user's collections and pyVmomi; the twin stays on those of the lock."""
    _minor, python = _newest(OLDEST_CORE_MINORS)
    if python is None:
        gate.notes.append("skipped: neither Python 3.11 nor 3.12 is installed")
        return
    number = number_of_commit()
    preflight, stages = turn(number, os.environ.get("AIREADY_ENGINE") == "required")
    if stages is None:
        gate.notes.append(f"without the rehearsal on commit {number}: its turn is preflight")
    elif not preflight:
        gate.notes.append(f"without preflight and guests on commit {number}: only multiples of {WITH_GUESTS} have all")
    venv = venvs.of_lock(gate, python, "core-oldest", "oldest-core")
    env = {**environment(), PROGRAMS: str(venv / "bin")}
    # The rehearsal does not run preflight.
    if preflight:
        gate.pytest(PYTHON, ["tests/e2e/test_preflight.py", "-k", "good_lab or one_trouble"], env)
    if stages is not None:
        gate.call([PYTHON, "-m", "rehearse", "--stages", stages, "--results", str(BUILD / "rehearsal-oldest")], env=env)


def turn(number: int, required: bool) -> tuple[bool, str | None]:
    """Return whether a commit runs preflight with the oldest core, and the stages of its rehearsal, None without one.

    The rehearsal has no guests if there is no container engine, unless one is required.
    """
    part = number % WITH_GUESTS
    if part == PREFLIGHT:
        return True, None
    if part == INFRASTRUCTURE:
        return False, "infrastructure"
    return True, "all" if required else "auto"


def _newest(minors: tuple[int, ...]) -> tuple[int, Path | None]:
    """The newest of these Pythons that is here, with its minor version."""
    return next(((minor, python) for minor in reversed(minors) if (python := pythons.find(minor))), (0, None))


def _ansible_test(gate: Gate, venv: Path, copy: Path, arguments: list[str], minors: set[int]) -> None:
    home = HOME / venv.name
    _provide_pip(gate, venv, home / ".ansible" / "test" / "cache")
    _keep_pip_configuration(venv, home)
    path = pythons.linked(BUILD / "pythons" / venv.name)
    env = environment(venv, HOME=str(home), PATH=os.pathsep.join([str(venv / "bin"), path]))
    for name in ("PYTHONPATH", "ANSIBLE_COLLECTIONS_PATH", "ANSIBLE_HOME"):
        del env[name]
    command = [str(venv / "bin" / "ansible-test"), "sanity", "--local", "--color", "no", *arguments]
    output = gate.call(command, copy, env)
    # ansible-test also passes with nothing to check, or with a Python that it could not use.
    for minor in minors:
        line = f'Running sanity test "import" on Python 3.{minor}'
        if pythons.find(minor) is not None and line not in output:
            raise GateFailed(f"ansible-test did not print: {line}")


def _provide_pip(gate: Gate, venv: Path, cache: Path) -> None:
    """Put the replacement where ansible-test searches before it downloads, for the version of pip that this core
    requires."""
    source = next(venv.glob("lib/python3.*/site-packages/ansible_test/_internal/python_requirements.py"))
    version = re.search(r"\bpip='([\d.]+)'", source.read_text())
    if version is None:
        raise GateFailed(f"{source} no longer contains the pip version of ansible-test.")
    script = cache / f"get_pip_{version[1].replace('.', '_')}.py"
    if script.exists():
        return
    pip = [str(venv / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    gate.call(
        [*pip, "download", "--quiet", "--no-deps", "--dest", str(cache), f"pip=={version[1]}"], env=dict(os.environ)
    )
    shutil.copy(Path(__file__).with_name("get_pip.py"), script)


def _keep_pip_configuration(venv: Path, home: Path) -> None:
    """Keep pip's configuration in a file: ansible-test hides the environment, and this gate the home folder."""
    listing = subprocess.run(
        [str(venv / "bin" / "python"), "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    options = {}
    for line in listing.stdout.splitlines():
        key, value = line.split("=", maxsplit=1)
        section, option = key.split(".", maxsplit=1)
        if section in ("global", "install", ":env:") and option not in ("config-file", "require-virtualenv"):
            options[option] = ast.literal_eval(value).strip().replace("\n", "\n    ")
    target = home / ".config" / "pip" / "pip.conf"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.touch(mode=0o600)
    target.write_text("[global]\n" + "".join(f"{option} = {value}\n" for option, value in options.items()))
