"""Build the execution environment of extensions/awx on the lab's own Debian, without a registry of images."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from rehearse.playbook import ROOT
from vsphere_twin.guests import building

DEFINITION = ROOT / "extensions" / "awx" / "execution-environment"
DEBIAN, BASE, IMAGE = "aiready-lab/ee-debian:1", "aiready-lab/ee-base:1", "aiready-lab/ee:1"
PACKAGES = ("python3", "python3-venv", "python3-dev", "gcc", "ca-certificates", "openssh-client", "sshpass")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
TODO = "Look whether this machine reaches its Debian mirror and its package index, then start again."


def definition(collection: str, base: str = BASE) -> dict[str, Any]:
    """The shipped definition with another base image, and the collection from a file instead of Galaxy."""
    found = yaml.safe_load((DEFINITION / "execution-environment.yml").read_text())
    found["images"]["base_image"]["name"] = base
    found["dependencies"]["galaxy"] = {"collections": [{"name": f"galaxy/{collection}", "type": "file"}]}
    found["additional_build_files"] = [{"src": collection, "dest": "galaxy"}]
    return found


def context(folder: Path, collection: Path) -> Path:
    """What the engine builds: ansible-builder writes it from the definition."""
    shutil.copy(collection, folder)
    (folder / "execution-environment.yml").write_text(yaml.safe_dump(definition(collection.name)))
    program = str(Path(sys.executable).with_name("ansible-builder"))
    command = [program, "create", "--output-filename", "Dockerfile", "--context", "context"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ansible-builder rejected the definition. {done.stdout}{done.stderr}")
    return folder / "context"


def build(client: Any, folder: Path, collection: Path, say: Callable[[str], None]) -> str:
    """The name of the image; its parts are built first."""
    if not building.there(client, DEBIAN):
        building.bootstrapped(client, DEBIAN, say, TODO, PACKAGES)
    base = folder / "base"
    base.mkdir()
    shutil.copy(CERTIFICATES, base)
    lines = (DEFINITION / "base" / "Dockerfile").read_text().splitlines()
    # The lab's Debian has the packages already. Its index may have a certificate of a private authority.
    own = [line for line in lines if line.startswith(("ENV", "RUN python3"))]
    text = [f"FROM {DEBIAN}", f"COPY {CERTIFICATES.name} {CERTIFICATES}", f"ENV PIP_CERT={CERTIFICATES}", *own]
    (base / "Dockerfile").write_text("\n".join(text) + "\n")
    building.built(client, "Making the base of the execution environment", say, TODO, path=str(base), tag=BASE)
    made = str(context(folder, collection))
    building.built(client, "Making the execution environment", say, TODO, path=made, tag=IMAGE)
    return IMAGE
