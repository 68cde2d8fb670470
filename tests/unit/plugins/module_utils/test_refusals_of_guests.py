# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Failures of what runs on guests, each with the facts of its message: most of them need a guest that is broken."""

from __future__ import annotations

from dataclasses import replace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, documented
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.intent import Intent, Watchdog
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platform import known, platform_of
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.platforms.cumulus import rules
from ansible_collections.aiready.vsphere.plugins.module_utils.fabric.state import Switch
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import NOT_FOUND, Commands, Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container import config_file, engines, toolkit
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import RuntimeRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import package_file, source
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import adapter, ifupdown, netplan, reach
from ansible_collections.aiready.vsphere.plugins.module_utils.training import build, look, plan
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.probe import record

from unit.approved import outline
from unit.plugins.module_utils.training.runs import request


class Says(Commands):
    """Every command says the same."""

    def __init__(self, rc=1, stdout="", stderr=""):
        self.reported = rc, stdout, stderr

    def run(self, argv, **_options):
        return Done(tuple(argv), *self.reported)


LINK = adapter.Link(name="ens224", mac="00:50:56:9a:10:01", mtu=1500)


def tool(says):
    made = toolkit.Toolkit("docker on job-01", says)
    made.version = "1.17.8"
    return made


class Folder:
    """Files of which one is there and cannot be read."""

    def text(self, _path):
        return None

    def exists(self, _path):
        return True


TWINS = [LINK, replace(LINK, name="ens225"), replace(LINK, name="ens224.5", is_device=False)]
NOWHERE = Files("/nonexistent")
RUN = source.of("/srv/NVIDIA-Linux-x86_64-550.54.15-grid.run")
IMAGE = {"id": "sha256:1234567890abcdef", "digests": [], "environment": {}, "architecture": "amd64"}
LOOKS = {
    "job-01": look.Look("job-01", image=IMAGE),
    "job-02": look.Look("job-02", image=dict(IMAGE, id="sha256:2")),
    "job-03": look.Look("job-03"),
}
DOCKER = engines.ENGINES["docker"]
PLAIN = RuntimeRequest("docker", "present", "nvidia", "", default_runtime=False, cdi=False, config="", restart="safe")
SOUND = "Install a working version of the NVIDIA Container Toolkit, or correct the error that it names."
UPDATE = "Update the package iproute2 (iproute on Red Hat) to 4.18 or newer, then run the task again."
REFUSALS = {
    "toolkit_broken": (
        lambda: tool(Says(0, "nvidia-ctk")).require(),
        "docker on job-01: nvidia-ctk does not report its version. `nvidia-ctk --version` exited with status 0: "
        f"nvidia-ctk. {SOUND}",
    ),
    "cdi_unreadable": (
        lambda: tool(Says(1, "", "no devices")).devices(),
        "docker on job-01: nvidia-ctk does not list the devices of containers. `nvidia-ctk cdi list` exited with "
        f"status 1: no devices. {SOUND}",
    ),
    "cdi_not_generated": (
        lambda: tool(Says(1, "", "no driver")).generate(),
        "docker on job-01: nvidia-ctk does not describe the GPUs to containers. `nvidia-ctk cdi generate` exited "
        f"with status 1: no driver. {SOUND}",
    ),
    "toolkit_refused": (
        lambda: tool(Says(1, "", "bad option")).configured(DOCKER, {DOCKER.config: "{}"}, PLAIN),
        "docker on job-01: nvidia-ctk rejects the configuration of docker. `nvidia-ctk runtime configure` "
        f"exited with status 1: bad option. {SOUND}",
    ),
    "configuration_unreadable": (
        lambda: config_file.read(Folder(), "/etc/docker/daemon.json"),
        "/etc/docker/daemon.json: cannot be read. The path exists, but this user cannot read it as a file. Run the "
        "task as root (`become: true`), and check that the path is a file.",
    ),
    "ip_too_old": (
        lambda: adapter.read_all(Says(0, "{")),
        f"The guest's adapters: cannot read them with `ip -j`. Its output is not JSON. {UPDATE}",
    ),
    "adapter_ambiguous": (
        lambda: adapter.find(TWINS, mac=LINK.mac),
        f"Adapter {LINK.mac}: is ambiguous. Several adapters have this MAC address: ens224, ens225. Name one of "
        "them with `name` instead of `mac`.",
    ),
    "no_such_adapter": (
        lambda: adapter.find(TWINS[:1], name="eth0"),
        f"Adapter eth0: does not exist on the guest. The guest has ens224 ({LINK.mac}). Compare the MAC address with "
        "vCenter. Check that the adapter is connected and its driver is loaded.",
    ),
    "netplan_unreadable": (
        lambda: netplan.Netplan(Says(1, "", "bad"), NOWHERE)._definition(LINK),
        "Adapter ens224: cannot read its settings from netplan. `netplan get` exited with status 1: bad. Update "
        "netplan.io to 0.104 or newer, correct the settings that it names, then run the task again.",
    ),
    "pattern_of_folders": (
        lambda: ifupdown.Ifupdown(Says(), NOWHERE)._matching("/etc/*/interfaces"),
        "/etc/network/interfaces: cannot read the files that it includes. It includes /etc/*/interfaces, a pattern of "
        "folders. List the folders one by one, then run the task again.",
    ),
    "ping_missing": (
        lambda: reach._passes(Says(NOT_FOUND), LINK, 9000, "192.0.2.1", 3),
        "Adapter ens224: cannot test the path to 192.0.2.1. The program ping is not installed. Install iputils-ping "
        "(iputils on Red Hat), then run the task again.",
    ),
    "no_baseline": (
        lambda: record.keep("/dev/null/site/baseline.json", {}),
        "File /dev/null/site/baseline.json: cannot write the baseline. The operating system reports: Not a directory. "
        "Free space, fix the permissions, or set another baseline.",
    ),
    "release_too_old": (
        lambda: rules._check_release(
            Switch("cumulus", version="5.2.1", hostname="leaf-01"), Intent(priority=4, watchdog=Watchdog(enabled=False))
        ),
        "leaf-01: cannot configure these RoCE values or the watchdog. Cumulus Linux 5.2.1 has only the RoCE preset in "
        "NVUE. Use the values of the preset and set watchdog.state to disabled, or upgrade the switch to 5.3 or newer.",
    ),
    "wrong_version": (
        lambda: package_file._same_version("Guest", RUN, replace(RUN, version="550.54.16")),
        f"Guest: cannot install the guest driver 550.54.15. {RUN.base} holds 550.54.16. Correct `version` or the name "
        "of the file, or use the correct file.",
    ),
    "no_horovod": (
        lambda: build.refuse(request(image="train:1"), None, ""),
        "Image train:1: cannot read the build options of Horovod. horovodrun --check-build printed: nothing. Use an "
        "image with Horovod, or set check_build: false if only horovodrun is broken.",
    ),
    "images_differ": (
        lambda: plan.refuse_images(request(3, image="train:1"), LOOKS),
        "Image train:1: is not the same on all guests. job-01: sha256:1234567890ab; job-02: sha256:2 have different "
        "IDs. Use pull: always, or name the image by its digest.",
    ),
}


@pytest.mark.parametrize("code", REFUSALS)
def test_failure_of_a_guest_is_reported_with_its_facts(code):
    call, message = REFUSALS[code]
    with pytest.raises(OperatorError) as raised:
        call()
    # Other words with the same facts are the same failure.
    assert (raised.value.failure["code"], outline(raised.value.message)) == (code, outline(message))
    assert raised.value.failure["subject"] == message.partition(": ")[0]


def test_a_service_that_refuses_its_settings_is_named_with_what_it_says():
    error = ifupdown.Ifupdown(Says(), NOWHERE).refused(LINK, "cannot set it", Says(1, "", "no").run(["ifup", "x"]))
    assert "ifupdown rejects them. `ifup x` exited with status 1: no." in error.message
    assert error.failure == documented(
        "service_refused", service="ifupdown", command=["ifup", "x"], subject="Adapter ens224"
    )


@pytest.mark.parametrize(
    "given, reported", [("x.y", "ansible_network_os is x.y"), (None, "ansible_network_os is not set")]
)
def test_an_unknown_platform_is_reported_with_all_that_are_known(given, reported):
    with pytest.raises(OperatorError) as raised:
        platform_of(None, given)
    assert raised.value.failure == documented("unknown_platform", network_os=given or "", subject="platform")
    assert f"cannot find the platform of the switch. {reported}. Set ansible_network_os to" in raised.value.message
    assert raised.value.message.endswith(f"or set platform to one of {', '.join(known())}.")


def test_guests_with_the_same_image_are_not_refused():
    assert plan.refuse_images(request(hosts=[{"name": "job-01"}, {"name": "job-03"}], image="train:1"), LOOKS) is None
    assert package_file._same_version("Guest", RUN, RUN) is None
