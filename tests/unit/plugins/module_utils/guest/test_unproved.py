# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A change on a guest that does not show when it is read again is a failure, which says what is still different."""

from __future__ import annotations

import contextlib

import pytest
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.guest import machine
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.login_noun import RegistryLogin
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.request import (
    LoginRequest,
    RuntimeRequest,
    settings_of,
)
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.runtime_noun import ContainerRuntime
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.container.settings_noun import EngineSettings
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import params as driver_params
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver.noun import GuestDriver
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import params as licence_params
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.noun import Licence
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import interface, interface_params, roce

from . import a_guest
from .container import fake_guest, test_login_noun, test_runtime_noun, test_settings_noun
from .licence import test_noun as licences
from .network import world
from .network.test_interface import REQUEST
from .network.test_rdma import device
from .network.test_services import networkd

KEPT = "[Match]\nMACAddress=00:50:56:9a:10:01\n[Network]\n"


def adapter(root):
    guest = networkd(root, KEPT)
    asked = {**REQUEST, "mtu": 9000, "address": "198.51.100.11/24"}
    requested = request(interface_params.InterfaceRequest, asked)
    return interface.Interface(requested, guest, guest.files, print, a_guest.Clock()), requested


def traffic_class(root):
    guest = world.Guest(root)
    device(guest.files, "mlx5_0")
    asked = {"mac": world.MAC, "name": None, "data_path": "sriov", "state": "present", "config": {}}
    requested = roce.request_of(asked)
    return roce.Roce(requested, guest, guest.files, print), requested


def settings(root):
    guest = fake_guest.Guest(root)
    requested = settings_of({**test_settings_noun.PLAIN, "insecure_registries": ["r.example:5000"]})
    return EngineSettings(requested, guest, guest.files, a_guest.Clock()), requested


def runtime(root):
    guest = fake_guest.Guest(root)
    requested = request(RuntimeRequest, test_runtime_noun.PLAIN)
    return ContainerRuntime(requested, guest, guest.files, a_guest.Clock()), requested


def login(root):
    guest = fake_guest.Guest(root)
    requested = request(LoginRequest, test_login_noun.PLAIN)
    return RegistryLogin(requested, guest.files, test_login_noun.Asked()), requested


def licence(root):
    clock = a_guest.Clock()
    guest = licences.Service(root, clock)
    checked = ArgumentSpecValidator(licence_params.ARGUMENTS).validate({"token": licences.SECRET, "proof": "none"})
    return Licence(guest, guest.files, clock), licence_params.request_of(checked.validated_parameters)


def driver(root):
    guest = a_guest.Guest(root)
    package = guest.package_file(root)
    checked = ArgumentSpecValidator(driver_params.ARGUMENTS).validate({"package": package})
    requested = request(driver_params.DriverRequest, checked.validated_parameters)
    return GuestDriver(guest, guest.files, a_guest.Clock(), a_guest.KERNEL, "x86_64"), requested


UNPROVED = {
    "adapter": (
        adapter,
        "Adapter ens224",
        "mtu: 1500 -> 9000; addresses: none -> 198.51.100.11/24; kept.mtu: none -> 9000; "
        "kept.addresses: none -> 198.51.100.11/24",
    ),
    "traffic class": (traffic_class, "Adapter ens224", "Still different: traffic_class: none -> 106; kept: none -> "),
    "settings": (settings, f"docker on {machine.name()}", "daemon.json: insecure-registries: none -> r.example:5000"),
    "runtime": (
        runtime,
        f"docker on {machine.name()}",
        "daemon.json: runtimes.nvidia.args: none -> none; "
        "daemon.json: runtimes.nvidia.path: none -> nvidia-container-runtime",
    ),
    "login": (login, "The login at nvcr.io", "Another program may write /home/me/.docker/config.json"),
    "licence": (
        licence,
        "job-01",
        "settings.FeatureType: none -> 1; token.client_configuration_token_aiready.tok: none -> the token",
    ),
    "driver": (driver, "job-01", "nouveau: allowed -> blocked; driver: none -> 550.54.15 (deb)"),
}


@pytest.mark.parametrize("name", UNPROVED)
def test_a_change_that_does_not_show_is_reported_with_what_is_there_and_what_was_wanted(name, tmp_path):
    made, subject, reported = UNPROVED[name]
    noun, requested = made(tmp_path)
    item = Item("job-01", requested, {})
    noun.read([item])
    item.wanted = noun.want(item)
    item.changes = noun.compare(item.now, item.wanted)
    with contextlib.suppress(OperatorError):
        # Nothing was changed in between.
        noun.prove([item])
    assert item.error.subject == subject
    assert f" {reported}" in item.error.message
    assert item.proved == item.now
    # A module of the kernel is not asked for where it cannot be loaded.
    paths = [change.path for change in item.changes if change.path != "loaded"]
    assert item.error.data.get("left", paths) == paths
    assert item.error.code == "not_proved"
