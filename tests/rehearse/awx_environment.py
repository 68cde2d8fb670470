"""Build the execution environment of extensions/awx on the lab's own Debian, without a registry of images or Galaxy."""

from __future__ import annotations

import configparser
import io
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import yaml

from house import environment_lock
from rehearse.playbook import ROOT
from vsphere_twin.guests import building

DEFINITION = ROOT / "extensions" / "awx" / "execution-environment"
DEBIAN, BASE, IMAGE = "aiready-lab/ee-debian:1", "aiready-lab/ee-base:1", "aiready-lab/ee:1"
PACKAGES = ("python3", "python3-venv", "python3-dev", "gcc", "ca-certificates", "openssh-client", "sshpass")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
TODO = "Look whether this machine reaches its Debian mirror and its package index, then start again."
# Collections of the vendors of the lab's switches, as a user adds those of the own switches.
VENDORS = ("arista.eos", "cisco.nxos")
OURS = "aiready.vsphere"
# Bytes. The image had 829 MB in November 2026.
LARGEST = 900 * 1000**2
USER = "1000"
# The virtual environment of Debian brings these.
TOOLS = ("pip", "setuptools", "wheel")
LABELS = {
    "org.opencontainers.image.title": "aiready-ee",
    "org.opencontainers.image.licenses": "GPL-3.0-or-later",
    "ansible-execution-environment": "true",
}


def definition(files: Sequence[str], base: str = BASE) -> dict[str, Any]:
    """The shipped definition with another base image, and the collections from files instead of Galaxy."""
    found = yaml.safe_load((DEFINITION / "execution-environment.yml").read_text())
    found["images"]["base_image"]["name"] = base
    found["dependencies"]["galaxy"] = {"collections": [{"name": f"galaxy/{one}", "type": "file"} for one in files]}
    found["additional_build_files"] += [{"src": one, "dest": "galaxy"} for one in files]
    return found


def required() -> dict[str, str]:
    """The collections of the shipped definition, with their versions."""
    listed = yaml.safe_load((DEFINITION / "requirements.yml").read_text())["collections"]
    return {one["name"]: one["version"] for one in listed}


def collections(folder: Path, own: Path) -> list[Path]:
    """Archives of all collections: ours from its tree, the others as the package `ansible` installed them."""
    folder.mkdir()
    made = [_archive(own, folder)]
    for name in [*(one for one in required() if one != OURS), *VENDORS]:
        tree = folder / name
        shutil.copytree(environment_lock.installed(name), tree, ignore=shutil.ignore_patterns("__pycache__"))
        about = json.loads((tree / "MANIFEST.json").read_text())["collection_info"]
        # The archive has those that the definition names. ansible-galaxy would ask Galaxy for others.
        kept = {key: about[key] for key in ("namespace", "name", "version", "authors", "readme", "license")}
        (tree / "galaxy.yml").write_text(yaml.safe_dump({**kept, "dependencies": about["dependencies"]}))
        made.append(_archive(tree, folder))
        shutil.rmtree(tree)
    return made


def _archive(tree: Path, folder: Path) -> Path:
    before = set(folder.glob("*.tar.gz"))
    _done([_program("ansible-galaxy"), "collection", "build", "--output-path", str(folder)], tree)
    return (set(folder.glob("*.tar.gz")) - before).pop()


def context(folder: Path, files: Sequence[Path], base: str = BASE) -> Path:
    """What the engine builds: ansible-builder writes it from the definition."""
    for one in (*files, DEFINITION / environment_lock.FILE.name):
        shutil.copy(one, folder)
    text = yaml.safe_dump(definition([one.name for one in files], base))
    (folder / "execution-environment.yml").write_text(text)
    _done([_program("ansible-builder"), "create", "--output-filename", "Dockerfile", "--context", "context"], folder)
    return folder / "context"


def pip_configuration(listed: str) -> str:
    """The configuration of pip in the image: addresses without a login and numbers of this machine's, and no file."""
    options = {}
    for line in listed.splitlines():
        key, _equals, value = line.partition("=")
        option, words = key.rpartition(".")[2], value.strip().strip("'").split()
        kept = " ".join(word for word in words if re.fullmatch(r"https?://[^@]+|\d+", word))
        if kept:
            options[option] = kept
    written = configparser.RawConfigParser()
    written["global"] = {**options, "cert": str(CERTIFICATES)}
    made = io.StringIO()
    written.write(made)
    return made.getvalue()


def build(client: Any, folder: Path, own: Path, say: Callable[[str], None]) -> str:
    """The name of the image; its parts are built first."""
    if not building.there(client, DEBIAN):
        building.bootstrapped(client, DEBIAN, say, TODO, PACKAGES)
    base = folder / "base"
    base.mkdir()
    shutil.copy(CERTIFICATES, base)
    listed = _done([sys.executable, "-m", "pip", "config", "list"], folder)
    (base / "pip.conf").write_text(pip_configuration(listed))
    lines = (DEFINITION / "base" / "Dockerfile").read_text().splitlines()
    # The lab's Debian has the packages already. Its index may have a certificate of a private authority.
    kept = [line for line in lines if line.startswith(("ENV", "RUN python3"))]
    text = [f"FROM {DEBIAN}", f"COPY {CERTIFICATES.name} {CERTIFICATES}", "COPY pip.conf /etc/pip.conf", *kept]
    (base / "Dockerfile").write_text("\n".join(text) + "\n")
    building.built(client, "Building the base of the execution environment", say, TODO, path=str(base), tag=BASE)
    made = str(context(folder, collections(folder / "collections", own)))
    building.built(client, "Building the execution environment", say, TODO, path=made, tag=IMAGE)
    return IMAGE


def found_in(client: Any, image: str) -> dict[str, Any]:
    """What an image has, as the engine and the programs in it report it."""
    attributes = client.images.get(image).attrs

    def output(*command: str) -> str:
        return client.containers.run(image, list(command), remove=True, network_mode="none").decode()

    packages = json.loads(output("python3", "-m", "pip", "list", "--format", "json"))
    listed = json.loads(output("ansible-galaxy", "collection", "list", "--format", "json"))
    return {
        "size": attributes["Size"],
        "user": attributes["Config"]["User"],
        "labels": attributes["Config"]["Labels"],
        "uid": output("id", "-u").strip(),
        "callback": output("printenv", "ORIGINAL_STDOUT_CALLBACK").strip(),
        "packages": {environment_lock.canonical(one["name"]): one["version"] for one in packages},
        "collections": {name: about["version"] for place in listed.values() for name, about in place.items()},
        "programs": output("which", "ssh", "sshpass", "ansible-playbook", "ansible-runner").split(),
    }


def expected() -> dict[str, str]:
    """The pinned packages of the definition."""
    needs = yaml.safe_load((DEFINITION / "execution-environment.yml").read_text())["dependencies"]
    pinned = [*needs["python"], *(needs[name]["package_pip"] for name in ("ansible_core", "ansible_runner"))]
    return dict(one.split("==") for one in pinned)


def problems(found: dict[str, Any]) -> list[str]:
    """What an image has that its definition does not say, or the other way round."""
    locked = environment_lock.locked()
    wrong = [
        f"{name} is {found['packages'].get(name)}, not {version}"
        for name, version in expected().items()
        if found["packages"].get(name) != version
    ]
    wrong += [
        f"{name} is {version}, and the lock has {locked.get(name, 'no version')}"
        for name, version in found["packages"].items()
        if name not in (*expected(), *TOOLS) and locked.get(name) != version
    ]
    # The collection requires it in any version from 3.7 on.
    wrong += ["the package matplotlib is missing"] if "matplotlib" not in found["packages"] else []
    wrong += [
        f"the collection {name} is {found['collections'].get(name)}, not {version}"
        for name, version in required().items()
        if found["collections"].get(name) != version
    ]
    wrong += [f"the label {name} is missing" for name, one in LABELS.items() if found["labels"].get(name) != one]
    if (found["user"], found["uid"]) != (USER, USER):
        wrong.append(f"it runs as user {found['user']} with id {found['uid']}, not as {USER}")
    if found["size"] > LARGEST:
        wrong.append(f"it has {found['size'] // 1000**2} MB, more than {LARGEST // 1000**2} MB")
    if found["callback"] != "aiready.vsphere.stages":
        wrong.append(f"its callback is {found['callback']}")
    programs = {Path(one).name for one in found["programs"]}
    wrong += [f"the program {one} is missing" for one in ("ssh", "sshpass", "ansible-runner") if one not in programs]
    return wrong


def _program(name: str) -> str:
    return str(Path(sys.executable).with_name(name))


def _done(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed. {done.stdout}{done.stderr}")
    return done.stdout
