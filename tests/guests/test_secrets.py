"""No secret of a site is shown to anybody: not by Ansible, not by processes, containers, logs or results."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path

import pytest

from rehearse import playbook

from .lab import LIMIT_S, Fresh, journal
from .watching import OwnProcesses, Processes

STAGES = ("guests", "runtime", "training")
USER, PASSWORD = "canary@vsphere.local", "canary-of-the-vcenter-4711"
# Where programs keep what they need; the rest of a guest's files has no reason to hold any secret.
TOKEN_FILE = "/etc/nvidia/ClientConfigToken/client_configuration_token_aiready.tok"
HOLDERS = "grep -rlaF -f - /etc /home /opt/lab /run /srv /tmp /usr/local /var/lib/dpkg /var/log /var/tmp ~ 2>/dev/null"


def forms(secret, user=""):
    """A secret as it is, the end of a long one, and as it is sent and kept beside a user's name."""
    found = [secret, secret[-40:]]
    return [*found, base64.b64encode(f"{user}:{secret}".encode()).decode()] if user else found


class Site:
    """A site whose only VM goes all the way from a bare guest to a training, with a word of its own in each secret."""

    def __init__(self, lab, guest, registry, folder):
        self.lab, self.guest, self.registry, self.folder = lab, guest, registry, folder
        self.results = folder / "results"
        twin = lab.twin.endpoint()
        self.token = Path(twin["licence"]["token_file"]).read_text().strip()
        self.given = {
            "site": _site(twin, registry, guest.name, self.results),
            "site_vcenter_password": PASSWORD,
            "site_licence_token": self.token,
            "site_registry_passwords": {registry["address"]: registry["password"]},
            "horovod_check_build": False,
            "horovod_memlock": "ignore",
        }
        playbook.write_endpoint(lab.twin, folder)
        # What a restart would take away.
        guest.run(["sh", "-c", "mkdir -p /var/log/journal && journalctl --flush"])

    def run(self, stage, **changed):
        """(status, all that anybody could see of a playbook meanwhile, by the place where it is seen)."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        variables = folder / "given.json"
        variables.write_text(json.dumps({**self.given, **changed}))
        env = playbook.environment(folder, AIREADY_LAB=str(self.folder))
        path = playbook.ROOT / f"playbooks/{stage}.yml"
        with Processes(self.guest) as processes, OwnProcesses(folder) as own:
            run = playbook.run(path, "-vvv", "--diff", "--extra-vars", f"@{variables}", env=env, kill_after_s=LIMIT_S)
        results = self.results.iterdir() if self.results.is_dir() else ()
        return run.status, {
            "Ansible": run.output,
            "processes of the guest": processes.text,
            "processes of this machine": own.text,
            "containers": processes.containers,
            "results": "".join(path.read_text() for path in results),
            "journal": journal(self.guest),
        }

    def holders(self, words):
        """The files of the guest that hold any of these words."""
        return set(self.guest.run(["sh", "-c", HOLDERS], "\n".join(words))[1].split())

    def changed(self, stage, **keys):
        """The site with other values in one of its parts."""
        return {**self.given["site"], stage: {**self.given["site"][stage], **keys}}

    def login(self, **keys):
        """The site with another login of its registry."""
        return self.changed("runtime", registries=[{**self.given["site"]["runtime"]["registries"][0], **keys}])


def _site(twin, registry, name, results):
    depot, keys = twin["depot"]["url"], twin["depot"]["key_fingerprints"]
    login = {"address": registry["address"], "username": registry["username"], "ca_file": registry["ca_file"]}
    return {
        "vcenter": {"hostname": twin["host"], "port": twin["port"], "username": USER, "ca_file": twin["ca_file"]},
        "cluster": "gpu",
        "network": {"path": "tcp"},
        "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
        "vms": [{"name": name}],
        "guests": {
            "user": "ops",
            "address_network": "VM Network",
            "driver": {"package": f"{depot}/grid/nvidia-linux-grid-550_550.54.15_amd64.deb"},
            "licence": {"feature_type": "vgpu"},
            "limits": {"memlock": "as_is", "nofile": 0},
            "reboot": "allow",
        },
        "runtime": {
            "memlock": "ignore",
            "toolkit_repository": {
                "url": f"{depot}/toolkit/stable",
                "key_url": f"{depot}/toolkit/gpgkey",
                "key_fingerprints": keys,
            },
            "registries": [login],
        },
        "training": {
            "image": registry["training_image"],
            "builtin": "small",
            "result_dir": str(results),
            "gpus": "none",
        },
    }


@pytest.fixture(scope="module")
def site(guests, lab_registry, tmp_path_factory):
    guests.twin.world.users[USER] = PASSWORD
    vm = guests.fresh(vgpus=["grid_a100-40c"])
    made = Site(guests, Fresh(guests, vm), lab_registry.endpoint(), tmp_path_factory.mktemp("site"))
    made.first = {stage: made.run(stage) for stage in STAGES}
    made.held = {what: made.holders(words) for what, words in secrets_of(made).items()}
    made.licensed = made.guest.run(["nvidia-smi", "-q"])[1]
    yield made
    guests.remove(vm)
    del guests.twin.world.users[USER]


def leaks(shown, secrets):
    """[(place, secret)] that are shown."""
    return [
        (place, what) for what, words in secrets.items() for place in shown for word in words if word in shown[place]
    ]


def secrets_of(site):
    return {
        "licence token": forms(site.token),
        "registry password": forms(site.registry["password"], site.registry["username"]),
        "vCenter password": forms(PASSWORD, USER),
    }


@pytest.mark.parametrize("stage", STAGES)
def test_no_secret_is_shown_on_the_way(site, stage):
    status, shown = site.first[stage]
    assert status == 0, shown["Ansible"][-8000:]
    assert leaks(shown, secrets_of(site)) == []


def test_every_secret_was_used_and_is_kept_where_it_is_needed_alone(site):
    assert "Licensed (Expiry" in site.licensed
    assert "container_registry_login" in site.first["runtime"][1]["journal"], "Ansible writes its calls there"
    assert "aiready.training" in site.first["training"][1]["containers"]
    (result,) = site.results.glob("*.json")
    assert json.loads(result.read_text())["verdict"]["state"] == "passed"
    home = site.guest.run(["sh", "-c", "echo ~"])[1].strip()
    places = {
        "licence token": {TOKEN_FILE},
        "registry password": {f"{home}/.docker/config.json"},
        "vCenter password": set(),
    }
    assert site.held == places


WRONG = "canary-that-is-wrong-4712"
FAILURES = {
    "a vCenter that refuses": lambda site: ("guests", {"site_vcenter_password": WRONG}),
    "a token that is refused": lambda site: (
        "guests",
        {"site_licence_token": WRONG, "site": site.changed("guests", licence={"feature_type": "vgpu", "wait_s": 5})},
    ),
    "a registry that refuses": lambda site: ("runtime", {"site_registry_passwords": {site.registry["address"]: WRONG}}),
    "an authority that is not there": lambda site: ("runtime", {"site": site.login(ca_file="/nonexistent/ca.pem")}),
    "an image that is not there": lambda site: (
        "training",
        {"site": site.changed("training", image=f"{site.registry['address']}/nothing:1")},
    ),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_no_secret_is_shown_where_a_task_fails(site, failure):
    stage, changed = failure(site)
    status, shown = site.run(stage, **changed)
    assert status != 0
    assert leaks(shown, {**secrets_of(site), "wrong secret": forms(WRONG, site.registry["username"])}) == []
