"""One line makes a lab: a twin, and the way to run playbooks against it as an operator would."""

from __future__ import annotations

import contextlib
import json

import pytest

from rehearse import playbook
from twin.launch import launch
from wire.observe import gpu_setup

SITE = playbook.ROOT / "playbooks" / "site.yml"


class Lab:
    """A twin, and playbooks that are run against it."""

    def __init__(self, twin, work):
        self.twin = twin
        self.work = work
        playbook.write_endpoint(twin, work)

    def site(self, **changes):
        """The site of the lab with some keys replaced, as extra variables; None takes a key away."""
        vcenter = {"hostname": self.twin.host, "port": self.twin.port, "username": self.twin.username}
        whole = {
            "vcenter": {**vcenter, "ca_file": str(self.twin.ca_file)},
            "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
            "vms": [{"name": "train-01"}, {"name": "train-02"}],
            **changes,
        }
        return ["--extra-vars", json.dumps({"site": {key: value for key, value in whole.items() if value is not None}})]

    def run(self, *arguments, of=SITE, inventory=playbook.LAB, env=None, echo=lambda line: None):
        """Run a playbook, site.yml unless another is named."""
        env = playbook.environment(self.work, **(env or {}))
        return playbook.run(of, *arguments, env=env, inventory=inventory, echo=echo)

    def profiles(self, *names):
        """What an observer that is none of ours sees on these VMs."""
        seen = gpu_setup(self.twin, *(names or ("train-01", "train-02")))
        return {name: setup["profiles"] for name, setup in seen.items()}


@pytest.fixture
def lab(tmp_path):
    with contextlib.ExitStack() as running:

        def start(seed="small", **options):
            return Lab(running.enter_context(launch(seed=seed, **options)), tmp_path)

        yield start
