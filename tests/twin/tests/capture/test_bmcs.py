"""BIOS settings of a capture are those of its BMCs, and only what they lack is assumed."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from twin_labs.saved import save
from vsphere_twin.capture import seed as captures
from vsphere_twin.capture.bmcs import Bmcs
from vsphere_twin.model import seed as seeds


def loaded(folder, turn):
    """A captured factory with the BMC of its first host."""
    world = seeds.load("factory")
    save(world, folder / "vcenter")
    host = world.of_kind("HostSystem")[0]
    system = folder / "bmcs" / "bmc-001" / "redfish" / "v1" / "Systems" / "System.Embedded.1"
    (system / "Bios").mkdir(parents=True)
    attributes = {**host.bmc.active, "SriovGlobalEnable": "Enabled", "OfANewerBios": "1"}
    (system / "index.json").write_text(json.dumps({"UUID": turn(host.uuid)}))
    (system / "Bios" / "index.json").write_text(json.dumps({"Attributes": attributes}))
    return host, captures.of(folder)


def smbios(uuid):
    first, second, third, *rest = uuid.split("-")
    turned = [bytes.fromhex(part)[::-1].hex() for part in (first, second, third)]
    return "-".join([*turned, *rest]).upper()


@pytest.mark.parametrize("turn", [str.upper, smbios])
def test_bios_settings_are_those_of_the_bmc_with_the_uuid_of_the_host(tmp_path, turn):
    host, made = loaded(tmp_path, turn)
    first, second = seeds.from_data(made).of_kind("HostSystem")
    assert first.bmc.active == {**host.bmc.active, "SriovGlobalEnable": "Enabled"}
    assumed = {row["object"] for row in made["assumptions"] if row["fact"].startswith("BIOS settings")}
    assert assumed == {f"host {second.name}"}


@pytest.mark.parametrize("uuid", ["", "00000000-0000-0000-0000-000000000000"])
def test_a_bmc_without_an_identity_belongs_to_no_host(uuid):
    files = {"index.json": {"UUID": uuid}, "Bios/index.json": {"Attributes": {"SriovGlobalEnable": "Enabled"}}}
    place = "bmcs/bmc-001/redfish/v1/Systems/1/"
    bundle = SimpleNamespace(
        files={place + name: "" for name in files}, table=lambda name: files[name.removeprefix(place)]
    )
    assert Bmcs(bundle).of(uuid) is None
