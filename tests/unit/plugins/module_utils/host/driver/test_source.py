# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Packages that cannot be read over vCenter's file access; files and esxcli, which go over the wire, are replaced."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import source
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.depot import Vib
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.params import ARGUMENTS, DriverRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver.state import HostDriver
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import datastore_file

ROW = {
    "Name": "NVD-AIE_ESXi_8.0.0_Driver",
    "Version": "550.54.16-1OEM.800.1.0.20613240",
    "Vendor": "NVIDIA",
    "AcceptanceLevel": "VMwareAccepted",
}
NOTHING = request(DriverRequest, {name: one.get("default") for name, one in ARGUMENTS.items()})


class Files:
    """A datastore that lists its files and lets none of them be read."""

    def __init__(self, code="datastore_access"):
        self._code = code

    def known(self, place):
        return place

    def size(self, place):
        return 100

    def open(self, place):
        raise OperatorError("x", "the file was to be read", "vCenter answered 403", "Check", self._code)


def reach(rows):
    """A host that lists these VIBs for any depot; None for one that cannot."""

    def call(command, **arguments):
        if rows is None or command != "software.sources.vib.list":
            raise OperatorError("x", command, "It answered: an error", "", "esxcli_failed")
        return rows

    return SimpleNamespace(host=SimpleNamespace(name="esx-01"), esxcli=SimpleNamespace(call=call))


def test_a_depot_that_only_the_host_may_read_is_known_as_the_host_lists_it():
    requested = replace(NOTHING, depot="[datastore-01] x.zip")
    found = source.find(reach([ROW]), Files(), requested, HostDriver())
    assert (found.package.driver.family, found.package.reported_by) == ("nvaie", "host")
    assert found.argument == {"depot": "/vmfs/volumes/datastore-01/x.zip"}


@pytest.mark.parametrize(
    "rows, name, code",
    [
        (None, "x.zip", "datastore_access"),
        ([ROW], "x.vib", "datastore_access"),
        ([ROW], "x.zip", "vcenter_unreachable"),
    ],
    ids=["nor the host", "a single VIB", "other trouble"],
)
def test_what_nobody_can_read_is_an_error_and_no_guess(rows, name, code):
    with pytest.raises(OperatorError) as reported:
        source.find(reach(rows), Files(code), replace(NOTHING, depot=f"[datastore-01] {name}"), HostDriver())
    assert reported.value.code == code


def test_a_vib_behind_an_address_is_reported_by_its_name():
    url = "https://repo/NVD-AIE_ESXi_8.0.0_Driver_550.54.16-1OEM.800.1.0.20613240.vib?token=1"
    found = source.find(reach(None), Files(), replace(NOTHING, url=url), HostDriver())
    assert (found.package.driver.version, found.package.reported_by) == (ROW["Version"], "name")
    assert found.argument == {"viburl": url}


def test_a_zip_behind_an_address_with_a_query_is_known_as_one():
    found = source.find(
        reach([ROW]), Files(), replace(NOTHING, url="https://repo/Driver.ZIP?token=a.vib"), HostDriver()
    )
    assert found.kind == "zip"


def test_a_question_mark_in_the_name_of_a_file_is_part_of_it():
    assert source.Source(None, "x", place=datastore_file.Place("datastore-01", "a?b.vib")).kind == "vib"


def test_an_address_that_reports_nothing_is_refused():
    with pytest.raises(OperatorError) as reported:
        source.find(reach(None), Files(), replace(NOTHING, url="https://repo/driver.vib"), HostDriver())
    assert reported.value.code == "depot_unreadable"


INSTALLED = Vib(ROW["Name"], ROW["Version"], "NVIDIA", "VMwareAccepted")
COMPONENT = ("NVD-AIE-800", ROW["Version"])


@pytest.mark.parametrize(
    "now",
    [
        HostDriver(vibs=(INSTALLED,), components=(COMPONENT,)),
        HostDriver(vibs=(INSTALLED,), in_image=(COMPONENT,), by_image=True),
    ],
    ids=["host", "image"],
)
def test_a_driver_that_is_installed_in_its_version_needs_no_package(now):
    found = source.find(reach(None), Files(), replace(NOTHING, version="550.54.16", depot="[ds] gone.zip"), now)
    assert (found.package.driver, found.package.components) == (INSTALLED, (COMPONENT,))


def test_a_version_without_a_package_cannot_be_installed_on_a_host_without_an_image():
    with pytest.raises(OperatorError) as refused:
        source.find(reach(None), Files(), replace(NOTHING, version="570.124.03"), HostDriver(vibs=(INSTALLED,)))
    assert refused.value.code == "no_package"


def test_several_components_of_one_version_are_listed(monkeypatch):
    found = [("NVD-AIE-800", "570.124.03-1OEM.800"), ("NVD-AIE-900", "570.124.03-1OEM.900")]
    monkeypatch.setattr(source.ClusterImage, "__init__", lambda _image, _reach: None)
    monkeypatch.setattr(source.ClusterImage, "offered", lambda _image, _family, _wanted: found)
    with pytest.raises(OperatorError) as refused:
        source.find(reach(None), Files(), replace(NOTHING, version="570.124.03"), HostDriver(by_image=True))
    assert refused.value.code == "no_package"
    assert "several components of this version: NVD-AIE-800 570.124.03-1OEM.800, NVD-AIE-900" in refused.value.message
    assert "or set `version` with the suffix for ESXi" in refused.value.message
