# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import io
import zipfile

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import depot

from vsphere_twin.model import depot as shipped
from vsphere_twin.model import packages
from vsphere_twin.model import vib as vibs

VERSION = "550.54.16-1OEM.800.1.0.20613240"


def opened(data):
    return io.BytesIO(data)


def zipped(files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


@pytest.mark.parametrize(
    "family, vib", [("nvaie", "NVD-AIE_ESXi_8.0.0_Driver"), ("graphics", "NVD-VMware_ESXi_8.0.0_Driver")]
)
def test_a_depot_reports_the_family_and_the_version_of_its_driver_whatever_its_file_is_called(family, vib):
    package = depot.read(opened(shipped.build(family, "550.54.16", "800")), "driver.zip")
    assert (package.driver.family, package.driver.name, package.driver.version) == (family, vib, VERSION)
    assert package.driver.acceptance == "VMwareAccepted"
    assert [name for name, dummy in package.components] == [packages.driver(family, "550.54.16")[1][0].name]
    assert package.reported_by == "metadata"


def test_a_single_vib_reports_the_same_without_its_payload():
    (vib,), dummy = packages.driver("nvaie", "550.54.16")
    package = depot.read(opened(vibs.write(vib)), "x.vib")
    assert (package.driver.family, package.driver.version, package.components) == ("nvaie", VERSION, ())


def test_a_depot_without_metadata_is_reported_by_the_vibs_in_it():
    (vib,), dummy = packages.driver("nvaie", "550.54.16")
    package = depot.read(opened(zipped({"vib20/x/x.vib": vibs.write(vib)})), "bare.zip")
    assert package.driver.version == VERSION


@pytest.mark.parametrize("folder", ["", "main/"])
def test_metadata_is_found_where_the_index_of_the_vendor_says_that_it_is(folder):
    (vib,), components = packages.driver("nvaie", "550.54.16")
    files = unzipped(shipped.write([vib], components))
    files["NVD.zip"] = files.pop("metadata.zip")
    files = {folder + name: data.replace(b"metadata.zip", b"NVD.zip") for name, data in files.items()}
    package = depot.read(opened(zipped(files)), "x.zip")
    assert (package.driver.version, len(package.components)) == (VERSION, 1)


def test_only_the_metadata_of_a_depot_is_read():
    class Counting(io.BytesIO):
        total = 0

        def read(self, size=-1):
            data = super().read(size)
            Counting.total += len(data)
            return data

    (vib,), components = packages.driver("nvaie", "550.54.16")
    whole = shipped.write([vib], components)
    padded = zipped({**unzipped(whole), "vib20/padding.bin": b"\0" * 5_000_000})
    assert depot.read(Counting(padded), "x.zip").driver.version == VERSION
    assert Counting.total < 200_000


def test_metadata_report_of_a_driver_also_without_the_vibs_themselves():
    (vib,), components = packages.driver("nvaie", "550.54.16")
    files = {name: data for name, data in unzipped(shipped.write([vib], components)).items() if ".vib" not in name}
    package = depot.read(opened(zipped(files)), "x.zip")
    assert (package.driver.version, len(package.components)) == (VERSION, 1)


def unzipped(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def broken_member():
    """A depot whose packed metadata was damaged on its way."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("metadata.zip", zipped({"vibs/a.xml": b"<vib/>" * 50}))
    data = bytearray(packed.getvalue())
    data[42:60] = b"\xff" * 18
    return bytes(data)


def encrypted():
    data = bytearray(zipped({"metadata.zip": zipped({"vibs/a.xml": b"<vib/>"})}))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


@pytest.mark.parametrize(
    "data, reason",
    [
        (b"", "neither a zip archive nor a VIB"),
        (b"not a zip" * 100, "neither a zip archive nor a VIB"),
        (shipped.build()[:400], "neither a zip archive nor a VIB"),
        (zipped({"readme.txt": b"hello"}), "no metadata and no VIB"),
        (zipped({"metadata.zip": zipped({"vibs/a.xml": b"<vib"})}), "cannot be read"),
        (zipped({"metadata.zip": b"rubbish"}), "neither a zip archive nor a VIB"),
        (zipped({"a.vib": b"rubbish"}), "no ar archive"),
        (b"!<arch>\n" + b"x" * 60, "does not begin with its descriptor"),
        (broken_member(), "cannot be read"),
        (encrypted(), "cannot be read .*encrypted"),
        (
            zipped({"metadata.zip": zipped({"vibs/a.xml": b"<!DOCTYPE a [<!ENTITY b 'c'>]><vib>&b;</vib>"})}),
            "document type",
        ),
    ],
    ids=[
        *("empty", "text", "cut", "other zip", "broken xml", "broken metadata", "broken vib in zip", "broken vib"),
        *("broken member", "encrypted", "entities"),
    ],
)
def test_what_is_no_depot_is_refused_with_the_reason(data, reason):
    with pytest.raises(depot.Unreadable, match=reason):
        depot.read(opened(data), "x.zip")


def test_the_package_around_the_depot_is_reported_apart_and_the_right_file_is_named():
    inner = "Host_Drivers/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_23471877.zip"
    with pytest.raises(depot.Unreadable, match="unpack it and use Host_Drivers/NVD-AIE-800_550.54.16"):
        depot.read(opened(zipped({inner: b"x", "Guest_Drivers/nvidia.run": b"x"})), "outer.zip")


@pytest.mark.parametrize(
    "path, name, text",
    [
        (
            "NVD-AIE-800_525.105.14-1OEM.800.1.0.20613240_21506612.zip",
            "NVD-AIE-800",
            "525.105.14-1OEM.800.1.0.20613240",
        ),
        ("/a/NVD-AIE_510.47.03-1OEM.702.0.0.17630552_19298122.zip", "NVD-AIE", "510.47.03-1OEM.702.0.0.17630552"),
        (
            "NVIDIA-AIE_ESXi_7.0.2_Driver_510.47.03-1OEM.702.0.0.17630552.vib",
            "NVIDIA-AIE_ESXi_7.0.2_Driver",
            "510.47.03-1OEM.702.0.0.17630552",
        ),
        (
            "NVD_bootbank_NVD-AIE_ESXi_8.0.0_Driver_550.54.16-1OEM.800.1.0.20613240.vib",
            "NVD-AIE_ESXi_8.0.0_Driver",
            "550.54.16-1OEM.800.1.0.20613240",
        ),
        (
            "NVD.NVIDIA_bootbank_NVIDIA-AIE_470.105-1OEM.702.0.0.17630552-offline_bundle-1.zip",
            "NVIDIA-AIE",
            "470.105-1OEM.702.0.0.17630552",
        ),
        (
            "NVIDIA-VMware_ESXi_6.7_Host_Driver-470.63-1OEM.670.0.0.8169922.x86_64.vib",
            "NVIDIA-VMware_ESXi_6.7_Host_Driver",
            "470.63-1OEM.670.0.0.8169922",
        ),
    ],
)
def test_published_file_names_report_the_package_where_nothing_else_can(path, name, text):
    package = depot.from_name(path)
    assert (package.driver.name, package.driver.version, package.reported_by) == (name, text, "name")


@pytest.mark.parametrize(
    "path", ["index.xml", "VMware-ESXi-8.0U3-24022510-depot.zip", "NVD-AIE-800.zip", "nmlx5-core_4.1-1OEM.800.zip", ""]
)
def test_other_file_names_report_nothing(path):
    assert depot.from_name(path) is None


def test_acceptance_levels_are_ordered_from_the_strictest():
    levels = ["VMwareCertified", "VMwareAccepted", "PartnerSupported", "CommunitySupported"]
    assert [depot.rank(level) for level in levels] == [0, 1, 2, 3]
    assert depot.rank("") is None


@pytest.mark.parametrize("data, says", [(shipped.build(), "metadata.zip in it is too large"), (None, "its descriptor")])
def test_what_is_too_large_to_be_metadata_is_not_read_into_memory(monkeypatch, data, says):
    (vib,), dummy = packages.driver("nvaie", "550.54.16")
    monkeypatch.setattr(depot, "_LARGEST_METADATA", 400)
    with pytest.raises(depot.Unreadable, match=says):
        depot.read(opened(data or vibs.write(vib)), "x")


def test_a_depot_that_holds_another_package_beside_its_own_vibs_is_no_wrapper():
    (vib,), dummy = packages.driver("nvaie", "550.54.16")
    files = {"vib20/x/x.vib": vibs.write(vib), "extra/NVD-AIE-800_550.54.16-1OEM.800.1.0.20613240_1.zip": b"x"}
    assert depot.read(opened(zipped(files)), "x.zip").driver.version == VERSION


def test_a_member_of_exactly_the_largest_size_is_metadata(monkeypatch):
    data = shipped.build()
    with zipfile.ZipFile(opened(data)) as archive:
        largest = archive.getinfo("metadata.zip").file_size
    monkeypatch.setattr(depot, "_LARGEST_METADATA", largest)
    assert depot.read(opened(data), "x.zip").driver.version == VERSION
    monkeypatch.setattr(depot, "_LARGEST_METADATA", largest - 1)
    with pytest.raises(depot.Unreadable, match="too large"):
        depot.read(opened(data), "x.zip")


def test_a_file_is_read_from_its_beginning_whoever_has_read_in_it_before():
    (vib,), components = packages.driver("nvaie", "550.54.16")
    for data in (vibs.write(vib), shipped.write([vib], components)):
        file = opened(data)
        file.read(40)
        assert depot.read(file, "x.zip").driver.version == VERSION


def test_all_that_a_package_says_of_a_vib():
    (vib,), components = packages.driver("nvaie", "550.54.16")
    found = depot.Vib("NVD-AIE_ESXi_8.0.0_Driver", VERSION, "NVIDIA", "VMwareAccepted")
    assert depot.read(opened(vibs.write(vib)), "x.vib").vibs == (found,)
    assert depot.read(opened(shipped.write([vib], components)), "x.zip").vibs == (found,)


@pytest.mark.parametrize(
    "file, components",
    [
        (f"NVD-AIE-800_{VERSION}_23471877.zip", (("NVD-AIE-800", VERSION),)),
        (f"C:\\drivers\\NVD-AIE-800_{VERSION}_23471877.ZIP", (("NVD-AIE-800", VERSION),)),
        (f"drivers/NVD-AIE_ESXi_8.0.0_Driver_{VERSION}.vib", ()),
    ],
)
def test_the_name_of_a_depot_is_that_of_its_component_and_the_name_of_a_vib_is_none(file, components):
    package = depot.from_name(file)
    assert (package.components, package.reported_by, package.vibs[0].version) == (components, "name", VERSION)
