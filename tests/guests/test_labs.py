"""Labs leave nothing: what a killed one left is removed by the next, and a living one is left alone."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from vsphere_twin.guests import __main__ as command
from vsphere_twin.guests import engine
from vsphere_twin.guests import lab as labs
from vsphere_twin.launch import launch

# Another process that has something of each kind, and waits.
OTHER = """
import json, sys
import docker
from vsphere_twin.guests import image
from vsphere_twin.guests.lab import Lab
lab, client = Lab(), docker.from_env()
client.volumes.create(lab.name("disk"), labels=lab.labels)
client.networks.create(lab.name("net"), labels=lab.labels)
made = client.containers.create(image.tag(), ["sleep", "60"], name=lab.name("guest"), labels=lab.labels)
made.commit("aiready-lab/vm", lab.id, changes="".join(f"LABEL {key}={value}\\n" for key, value in lab.labels.items()))
made.start()
print(json.dumps(lab.id), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(guests):
    process = subprocess.Popen([sys.executable, "-c", OTHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    process.lab = json.loads(line)
    yield process
    process.kill()
    process.communicate()
    labs.remove(guests.twin.guests.client, process.lab)


def _left(client, lab):
    chosen = {"label": f"{labs.LABEL}={lab}"}
    return [
        len(client.api.containers(all=True, filters=chosen)),
        len(client.api.networks(filters=chosen)),
        len(client.api.volumes(filters=chosen)["Volumes"] or []),
        len(client.api.images(filters=chosen)),
    ]


def test_a_lab_that_runs_is_left_alone(guests, other):
    client = guests.twin.guests.client
    labs.remove_forgotten(client, print)
    assert _left(client, other.lab) == [1, 1, 1, 1]


def test_what_a_killed_lab_left_is_removed_by_the_next(guests, other):
    client, said = guests.twin.guests.client, []
    other.kill()
    other.communicate()
    labs.remove_forgotten(client, said.append)
    assert _left(client, other.lab) == [0, 0, 0, 0]
    # Another lab may come first; nothing else was there to remove.
    assert set(said) - {f"Removing what an earlier lab left: {other.lab}."} == set()
    assert _left(client, guests.twin.guests.lab.id)[0] >= 3  # this one: two guests, and the hands


def test_a_twin_that_ends_leaves_nothing(guests):
    client = guests.twin.guests.client
    with launch(SMALL, faces=("guests",)) as twin:
        twin.guest("job-01")
        lab = twin.guests.lab.id
        assert _left(client, lab)[0] > 0
    assert _left(client, lab) == [0, 0, 0, 0]


def test_an_engine_that_goes_away_is_reported_and_not_waited_for(monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setattr(engine.shutil, "which", lambda name: None)
    with (
        pytest.raises(engine.EngineProblem, match=r"No Docker answers at unix:///nonexistent/docker\.sock"),
        launch(SMALL, faces=("guests",)),
    ):
        pass


def test_status_names_the_labs_that_run(guests, capsys):
    command._status()
    assert f"Lab {guests.twin.guests.lab.id} of process" in capsys.readouterr().out


SMALL = {
    "users": {"administrator@vsphere.local": "VMware1!"},
    "datacenters": [
        {
            "name": "lab",
            "datastores": [{"name": "datastore-01"}],
            "networks": [{"name": "VM Network"}],
            "clusters": [{"name": "gpu", "hosts": [{"name": "esx-01.lab.example"}]}],
            "vms": [{"name": "job-01", "networks": ["VM Network"], "power": "on"}],
        }
    ],
}
