"""Ownership of engine objects: every one carries the labels of its lab. Objects of an ended process are removed."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from pathlib import Path

import docker.errors

from . import settings

LABEL = "aiready.lab"  # the id of the lab
OWNER = "aiready.owner"  # the process that runs it
STATE = "aiready.state"  # folder for data kept between labs, of the process that runs it
REMOVED_S, AGAIN_S = 120, 0.2  # how long another one may take to let go of something
# Disks of VMs that others are cloned from. Images that stay may have the labels of the containers they were made from.
IMAGES = "aiready-lab/vm"


class Lab:
    """The id and the labels of one lab."""

    def __init__(self):
        self.id = secrets.token_hex(4)
        self.labels = {LABEL: self.id, OWNER: owner(), STATE: str(settings.state())}
        settings.note_lab()

    def name(self, part):
        """The name of something of this lab."""
        return f"aiready-{self.id}-{part}"


def owner(pid=None):
    """Return an identity of a process for its lifetime: its number, its start, and the scope of the number."""
    pid = pid or os.getpid()
    started = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    return f"{pid}:{started}:{_space()}"


def lives(text):
    """Return whether the owner's process exists; None if that is not visible from here."""
    pid, _colon, rest = (text or "").partition(":")
    if not pid.isdigit() or rest.partition(":")[2] != _space():
        return None
    try:
        return owner(int(pid)) == text
    except (OSError, IndexError):
        return False


def _space():
    """Return the scope of process IDs: one boot of one kernel, and one PID namespace."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    return f"{boot}:{os.readlink('/proc/self/ns/pid')}"


def labs(client):
    """{id of a lab: its owner}, for every lab of which something is left."""
    return {name: labels.get(OWNER, "") for name, labels in _first_labels(client).items()}


def of_folder(client):
    """Ids of the labs of this folder, and of those without a process whose folder is gone or unknown."""
    here = str(settings.state())
    return [
        name
        for name, labels in _first_labels(client).items()
        if labels.get(STATE) == here
        or (not Path(labels.get(STATE, "/nonexistent")).is_dir() and not lives(labels.get(OWNER)))
    ]


def _first_labels(client):
    found = {}
    for labels in _labels(client):
        found.setdefault(labels[LABEL], labels)
    return found


def _labels(client):
    chosen = {"label": LABEL}
    for rows in (
        client.api.containers(all=True, filters=chosen),
        client.api.networks(filters=chosen),
        client.api.volumes(filters=chosen)["Volumes"] or [],
        client.api.images(IMAGES, filters=dict(chosen)),
    ):
        for row in rows:
            if LABEL in (row.get("Labels") or {}):
                yield row["Labels"]


def remove_forgotten(client, say):
    """Remove labs of this folder whose process has ended without cleaning up."""
    ours = of_folder(client)
    for name, its_owner in labs(client).items():
        if name in ours and lives(its_owner) is False:
            say(f"Removing what an earlier lab left: {name}.")
            remove(client, name)


def remove(client, name=None):
    """Remove everything of one lab, or of all. It waits for objects that another process uses or removes."""
    chosen = {"label": f"{LABEL}={name}" if name else LABEL}
    until = time.monotonic() + REMOVED_S
    while (held := _sweep(client.api, chosen)) is not None:
        if time.monotonic() > until:
            raise held
        time.sleep(AGAIN_S)


def _sweep(api, chosen):
    """Remove all removable objects; return the first refusal of the engine, or None."""
    held = None
    for rows, removed in (
        (
            lambda: api.containers(all=True, filters=chosen),
            lambda row: api.remove_container(row["Id"], v=True, force=True),
        ),
        (lambda: api.networks(filters=chosen), lambda row: api.remove_network(row["Id"])),
        (lambda: api.volumes(filters=chosen)["Volumes"] or [], lambda row: api.remove_volume(row["Name"], force=True)),
        (lambda: api.images(IMAGES, filters=dict(chosen)), lambda row: api.remove_image(row["Id"], force=True)),
    ):
        for row in rows():
            try:
                removed(row)
            except docker.errors.NotFound:
                pass
            except docker.errors.APIError as refusal:
                held = held or refusal
    return held


@contextlib.contextmanager
def gone_already():
    """Accept that another process has removed the same object already."""
    try:
        yield
    except docker.errors.NotFound:
        pass
    except docker.errors.APIError as problem:
        if "already in progress" not in str(problem.explanation or ""):
            raise
