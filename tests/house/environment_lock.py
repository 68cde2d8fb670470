"""Lock of the Python packages of the execution environment. As a program, it resolves and writes the lock again."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import yaml
from packaging.requirements import Requirement

from house.collection import ROOT

FOLDER = ROOT / "extensions" / "awx" / "execution-environment"
FILE = FOLDER / "constraints.txt"
# Python of Debian 12, and the oldest C library that a wheel may need there.
PYTHON, PLATFORMS = (
    "3.11",
    ("manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64"),
)
# Users add collections for their switches. These two need packages that the others do not.
VENDORS = ("arista.eos", "cisco.nxos")
# ansible-builder installs it as the first process of a container.
INIT = "dumb-init==1.2.5"
_OF_MACHINE = ("PIP_CONSTRAINT", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS")
HEAD = (
    "# Versions of all Python packages of the execution environment, for Python 3.11 on x86-64.\n"
    "# python -m house.environment_lock resolves them again.\n"
)


def canonical(name: str) -> str:
    """The name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def locked() -> dict[str, str]:
    """{package: version} of the lock."""
    lines = [line for line in FILE.read_text().splitlines() if not line.startswith("#")]
    return {canonical(name): version for name, version in (line.split("==") for line in lines)}


def installed(collection: str) -> Path:
    """The folder of a collection of the package ansible."""
    spec = find_spec("ansible_collections")
    places = [Path(one) for one in (spec.submodule_search_locations if spec else None) or ()]
    return next(found for place in places if (found := place / collection.replace(".", "/")).is_dir())


def requirements() -> list[str]:
    """What ansible-builder installs: packages of the definition and of all collections, without the excluded ones."""
    needs = yaml.safe_load((FOLDER / "execution-environment.yml").read_text())["dependencies"]
    listed = yaml.safe_load((FOLDER / "requirements.yml").read_text())["collections"]
    others = [one["name"] for one in listed if one["name"] != "aiready.vsphere"]
    files = [ROOT / "requirements.txt", *(installed(one) / "requirements.txt" for one in (*others, *VENDORS))]
    lines = [
        line.partition("#")[0].strip() for path in files if path.is_file() for line in path.read_text().splitlines()
    ]
    excluded = {canonical(one) for one in needs["exclude"]["python"]}
    kept = [line for line in lines if line and canonical(Requirement(line).name) not in excluded]
    pinned = [*needs["python"], *(needs[name]["package_pip"] for name in ("ansible_core", "ansible_runner")), INIT]
    return [*pinned, *dict.fromkeys(kept)]


def resolved() -> dict[str, str]:
    """{package: version} that pip selects now. It downloads only what it needs to resolve, and installs nothing."""
    with tempfile.TemporaryDirectory() as work:
        report = Path(work) / "report.json"
        platforms = [word for one in PLATFORMS for word in ("--platform", one)]
        target = ["--python-version", PYTHON, "--implementation", "cp", *platforms, "--only-binary", ":all:"]
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", *target]
        # Versions of the package index alone, and not of files or limits of this machine.
        env = {**os.environ, "PIP_CONFIG_FILE": os.devnull, **dict.fromkeys(_OF_MACHINE, "")}
        subprocess.run([*command, "--target", work, "--report", str(report), *requirements()], env=env, check=True)
        found = json.loads(report.read_text())["install"]
    return {canonical(one["metadata"]["name"]): one["metadata"]["version"] for one in found}


def main() -> None:
    found = resolved()
    FILE.write_text(HEAD + "".join(f"{name}=={found[name]}\n" for name in sorted(found)))
    print(f"{FILE.relative_to(ROOT)}: {len(found)} packages")


if __name__ == "__main__":
    main()
