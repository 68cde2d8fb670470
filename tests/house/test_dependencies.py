"""What is needed is named once, pinned where we install it, left open where the user does."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from gates import bootstrap
from house.collection import NAME, ROOT, load, tracked

LOCKS = ["tools", "newer-core", "oldest-core", "twin", "docs"]
EXPLAINED = ["tools", "newer-core", "twin", "docs"]
# A task or playbook line that uses a module, role or plugin of another collection.
USED = re.compile(r"^\s*(?:- )?([a-z][a-z0-9_]*\.[a-z][a-z0-9_]*)\.[a-z][a-z0-9_]*\s*:", re.MULTILINE)
OURS_OR_CORE = {NAME, "ansible.builtin"}


def locked(lock: str) -> list[str]:
    """The packages of a lock, each with all that belongs to it on one line."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    return re.sub(r"\s*\\\n\s*", " ", text).splitlines()


def names(path: str) -> set[str]:
    """The packages that a requirements file names itself."""
    lines = (ROOT / path).read_text().splitlines()
    return {re.split(r"[<>=~!; \[]", line)[0].lower() for line in lines if re.match(r"[A-Za-z]", line)}


def test_the_execution_environment_installs_the_requirements_of_the_collection():
    environment = load("meta/execution-environment.yml")
    assert environment["dependencies"]["python"] == "requirements.txt"
    assert names("requirements.txt")


def test_the_execution_environment_has_what_ssh_connections_need():
    system = (ROOT / load("meta/execution-environment.yml")["dependencies"]["system"]).read_text().splitlines()
    assert {"openssh-client [platform:dpkg]", "openssh-clients [platform:rpm]", "sshpass"} <= set(system)


def test_requirements_leave_room_for_what_the_user_has_and_do_not_name_ansible():
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line and line[0] != "#"]
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+(>=[0-9.]+)?", line)] == []
    assert names("requirements.txt").isdisjoint({"ansible", "ansible-core"})


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_pins_every_package_it_was_made_for(lock):
    pinned = names(f"requirements/{lock}.txt")
    collection = set() if lock in ("twin", "docs") else names("requirements.txt")
    assert (names(f"requirements/{lock}.in") | collection) - pinned == set()


def test_the_lock_of_the_twin_has_what_its_package_asks_for():
    package = tomllib.loads((ROOT / "tests" / "twin" / "pyproject.toml").read_text())
    wanted = [*package["project"]["dependencies"], *package["project"]["optional-dependencies"]["test"]]
    wanted += [one.replace("flit_core", "flit-core") for one in package["build-system"]["requires"]]
    named = {re.split(r"[<>=]", one)[0].lower() for one in wanted}
    assert named | {"pip", "uv"} == names("requirements/twin.in")


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_exact_versions_only(lock):
    lines = [line.partition(" --hash=")[0] for line in locked(lock)]
    assert [line for line in lines if not re.match(r"[a-z0-9._-]+==[0-9][^ ]*( ; .+)?$", line)] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_each_package_of_a_lock_has_its_hashes_and_nothing_else(lock):
    hashed = re.compile(r"[^ ]+==[^ ]+( ; [^\\]+?)?( --hash=sha256:[0-9a-f]{64})+")
    lines = locked(lock)
    assert len(lines) > 20
    assert [line for line in lines if not hashed.fullmatch(line)] == []


def test_locks_are_made_with_hashes():
    compiled = re.search(r"uv pip compile .*?\.in\"", (ROOT / "Makefile").read_text(), re.DOTALL).group()
    assert "--generate-hashes" in compiled


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("uv_fails", [0, 1], ids=["uv", "pip"])
def test_what_is_installed_from_a_lock_is_compared_with_its_hashes(monkeypatch, tmp_path, lock, uv_fails):
    commands, first = [], []

    def run(command, **_options):
        commands.append(command)
        if command[-1].endswith("uv.txt"):
            first.extend(Path(command[-1]).read_text().splitlines())
        return subprocess.CompletedProcess(command, uv_fails if "sync" in command else 0)

    monkeypatch.setattr(bootstrap.subprocess, "run", run)
    monkeypatch.setattr(bootstrap, "compile_packages", lambda _python: None)
    path = ROOT / "requirements" / f"{lock}.txt"
    bootstrap.install(tmp_path / "bin" / "python", path)
    assert ["--require-hashes" in command for command in commands] == [True] * (2 + uv_fails)
    assert [command[-1] for command in commands[1:]] == [str(path)] * (1 + uv_fails)
    assert first[0].startswith("uv==")
    assert {line.split("=")[0] for line in first[1:]} == {"    --hash"}


def test_galaxy_names_exactly_the_collections_that_roles_and_playbooks_use():
    shipped = [name for name in tracked() if re.match(r"(roles|playbooks)/.*\.ya?ml$", name)]
    used = {match for name in shipped for match in USED.findall((ROOT / name).read_text())}
    # Only users of AWX or Kubernetes need these modules, so galaxy.yml does not install them for all.
    assert used - OURS_OR_CORE - {"awx.awx", "kubernetes.core"} == set(load("galaxy.yml")["dependencies"] or {})


@pytest.mark.parametrize("path", ["requirements.txt", *(f"requirements/{one}.in" for one in EXPLAINED)])
def test_every_dependency_is_explained(path):
    explained = (ROOT / "docs" / "dependencies.md").read_text()
    assert {name for name in names(path) if f"`{name}`" not in explained} == set()


def test_every_collection_that_galaxy_names_is_explained():
    explained = (ROOT / "docs" / "dependencies.md").read_text()
    assert {name for name in load("galaxy.yml")["dependencies"] or {} if f"`{name}`" not in explained} == set()
