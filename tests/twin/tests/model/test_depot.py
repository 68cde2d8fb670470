"""Offline bundles and VIBs: what is written can be read, by us and by ordinary tools, and damage is found."""

from __future__ import annotations

import io
import shutil
import subprocess
import zipfile
from xml.etree import ElementTree

import pytest

from vsphere_twin.model import depot, packages
from vsphere_twin.model import vib as vibs
from vsphere_twin.model.release import RELEASES

FAMILIES = [("nvaie", "550.54.16", "800"), ("nvaie", "510.47.03", "702"), ("graphics", "550.54.16", "800")]


@pytest.mark.parametrize("family,version,release", FAMILIES)
def test_a_depot_holds_what_its_family_ships(family, version, release):
    bundle = depot.read(depot.build(family, version, release))
    assert (list(bundle.vibs), list(bundle.components)) == packages.driver(family, version, release)


def test_the_same_depot_has_the_same_bytes():
    assert depot.write(*packages.driver("nvaie", "550.54.16")) == depot.build()
    assert depot.build(version="550.90.05") != depot.build()


def test_names_are_those_of_published_packages():
    # Frank Denneman, 2023-07-06: the 8.0 depot and component; the walkthrough of release 510.47.03 for 7.0.
    assert depot.file_name("nvaie", "525.105.14", "800") == "NVD-AIE-800_525.105.14-1OEM.800.1.0.20613240_21506612.zip"
    assert depot.file_name("nvaie", "510.47.03", "702") == "NVD-AIE_510.47.03-1OEM.702.0.0.17630552_19298122.zip"
    (vib,), _components = packages.driver("nvaie", "510.47.03", "702")
    assert vib.id == "NVIDIA_bootbank_NVIDIA-AIE_ESXi_7.0.2_Driver_510.47.03-1OEM.702.0.0.17630552"
    assert vib.file_name == "NVIDIA-AIE_ESXi_7.0.2_Driver_510.47.03-1OEM.702.0.0.17630552.vib"


def test_the_indexes_lead_to_the_metadata_and_the_metadata_to_the_vibs():
    outer = zipfile.ZipFile(io.BytesIO(depot.build()))
    vendors = ElementTree.fromstring(outer.read("index.xml"))
    assert vendors.findtext("vendor/content/type") == "http://www.vmware.com/depotmanagement/esx"
    listed = ElementTree.fromstring(outer.read(vendors.findtext("vendor/indexfile")))
    inner = zipfile.ZipFile(io.BytesIO(outer.read(listed.findtext("metadata/url"))))
    bulletin = ElementTree.fromstring(inner.read("vmware.xml")).find("bulletin")
    assert bulletin.find("componentNameSpec").get("name") == "NVD-AIE-800"
    place = bulletin.findtext("vibList/vib/vibFile/relativePath")
    assert vibs.read(outer.read(place)).name == "NVD-AIE_ESXi_8.0.0_Driver"


@pytest.mark.skipif(shutil.which("ar") is None, reason="ar is not installed")
def test_a_vib_is_an_archive_that_ar_lists(tmp_path):
    path = tmp_path / "driver.vib"
    path.write_bytes(vibs.write(packages.driver("nvaie", "550.54.16")[0][0]))
    listed = subprocess.run(["ar", "t", str(path)], check=True, capture_output=True, text=True).stdout.split()
    assert listed[:2] == ["descriptor.xml", "sig.pkcs7"]
    assert len(listed) == 3


@pytest.mark.parametrize(
    "contents",
    [packages.firmware_tools()[0], packages.daemon()[0], packages.community()[0]],
    ids=lambda one: one[0].name,
)
def test_every_package_survives_writing_and_reading(contents):
    for one in contents:
        assert vibs.read(vibs.write(one)) == one


def _without(data, name):
    outer, packed = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as copy:
        for one in outer.namelist():
            if one != name:
                copy.writestr(one, outer.read(one))
    return packed.getvalue()


def _with_other_vib(data):
    outer, packed = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as copy:
        for one in outer.namelist():
            copy.writestr(one, outer.read(one) + (b"!" if one.endswith(".vib") else b""))
    return packed.getvalue()


@pytest.mark.parametrize(
    "damage,says",
    [
        (lambda data: b"PK, but no zip", "File is not a zip file"),
        (lambda data: data[: len(data) // 2], "File is not a zip file"),
        (lambda data: _without(data, "index.xml"), "There is no item named 'index.xml' in the archive"),
        (lambda data: _without(data, "metadata.zip"), "There is no item named 'metadata.zip' in the archive"),
        (_with_other_vib, "checksum of vib20"),
    ],
    ids=["no zip", "half a zip", "no index", "no metadata", "a changed VIB"],
)
def test_a_damaged_depot_is_refused_with_what_is_wrong(damage, says):
    with pytest.raises(depot.BadDepot, match=says):
        depot.read(damage(depot.build()))


@pytest.mark.parametrize("data", [b"", b"!<arch>\nshort", vibs.write(packages.community()[0][0])[:-40]])
def test_a_damaged_vib_is_refused(data):
    with pytest.raises(vibs.BadVib):
        vibs.read(data)


def test_versions_compare_by_their_numbers():
    newest_first = ["550.100.1-1", "550.54.16-1OEM.800", "550.54.9-1OEM.800", "535.274.03-1"]
    assert sorted(newest_first, key=vibs.sort_key, reverse=True) == newest_first


def test_an_older_major_releases_interface_is_gone():
    assert packages.interfaces(RELEASES["8.0.3"]) == {"vmkapi_2_10_0_0"}
    assert packages.interfaces(RELEASES["7.0.3"]) == {"vmkapi_2_8_0_0"}
