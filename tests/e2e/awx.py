"""The template project of a lab, and the access to its simulated controller."""

from __future__ import annotations

import shutil

import requests
import yaml

from rehearse import playbook

PROJECT = playbook.ROOT / "extensions" / "awx" / "project"
AWX = playbook.ROOT / "playbooks" / "awx.yml"
LOCAL = {"ansible_connection": "local", "ansible_python_interpreter": "{{ ansible_playbook_python }}"}


def project(folder, twin, guests=(), **changes):
    """The template project with the site of a lab. The credential has the address, the user and the password."""
    shutil.copytree(PROJECT, folder)
    # A guest is this machine, without sudo.
    children = {"training_guests": {"hosts": {name: {**LOCAL, "ansible_become": False} for name in guests}}}
    inventory = {"all": {"hosts": {"localhost": LOCAL}, "children": children}}
    (folder / "inventory" / "hosts.yml").write_text(yaml.safe_dump(inventory))
    site = {
        "vcenter": {"port": twin.port, "ca_file": str(twin.ca_file), "validate_certs": True},
        # Preflight would reject it. The answer of the survey replaces it.
        "gpu": {"mode": "vgpu", "profile": "grid_a100-xxc"},
        "vms": [{"name": "train-01"}, {"name": "train-02"}],
        **changes,
    }
    prepared = folder / "inventory" / "group_vars" / "all" / "prepared_default.yml"
    prepared.write_text(yaml.safe_dump({"prepared_default": site}))


def token_of(twin, **body):
    """A token, as a user creates it in the UI."""
    login = twin.controller.endpoint()
    words = {"auth": (login["username"], login["password"]), "verify": str(twin.ca_file), "timeout": 30}
    return requests.post(f"{login['url']}/api/v2/tokens/", json=body, **words).json()["token"]


def access(twin, token):
    """The environment of the modules of awx.awx."""
    return {
        "CONTROLLER_HOST": twin.controller.url,
        "CONTROLLER_OAUTH_TOKEN": token,
        "CONTROLLER_REQUEST_TIMEOUT": "120",  # the default of 10 s is short on a busy machine
        "SSL_CERT_FILE": str(twin.ca_file),
    }


def vcenter_of(twin):
    """The inputs of the credential for vCenter."""
    return {"host": twin.host, "username": twin.username, "password": twin.endpoint()["password"]}


def here(lab):
    """An inventory with this machine."""
    path = lab.work / "hosts.yml"
    path.write_text(yaml.safe_dump({"all": {"hosts": {"localhost": LOCAL}}}))
    return path
