"""The lab's packages and repositories are what Debian's own tools take them for."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import tarfile

import pytest

from vsphere_twin.guests import deb, packages

needs_dpkg = pytest.mark.skipif(shutil.which("dpkg-deb") is None, reason="dpkg-deb is not here")
needs_gpg = pytest.mark.skipif(shutil.which("gpg") is None, reason="gpg is not here")
ALL = [
    packages.grid("550.54.15"),
    packages.datacentre("550.54.15"),
    packages.datacentre("550.54.15", with_open=True),
    packages.ofed(),
    packages.headers(),
    packages.dkms(),
    packages.perftest(),
    packages.nccl_tests(),
    packages.dcgm(),
]
ALL += packages.toolkit("1.17.8") + packages.toolkit("1.20.0")


@needs_dpkg
@pytest.mark.parametrize("package", ALL, ids=[f"{one.name} {one.version}" for one in ALL])
def test_dpkg_reads_it(package, tmp_path):
    path = tmp_path / package.file_name
    path.write_bytes(deb.write(package))
    shown = subprocess.run(["dpkg-deb", "-f", path, "Package", "Version"], capture_output=True, text=True, check=True)
    assert shown.stdout == f"Package: {package.name}\nVersion: {package.version}\n"
    subprocess.run(["dpkg-deb", "-x", path, tmp_path / "root"], check=True)
    for place in package.files:
        assert os.path.lexists(f"{tmp_path}/root{place}"), place


def test_the_same_package_has_the_same_bytes():
    assert deb.write(packages.grid("550.54.15")) == deb.write(packages.grid("550.54.15"))


def test_names_are_the_vendors():
    assert packages.grid("550.54.15").file_name == "nvidia-linux-grid-550_550.54.15_amd64.deb"
    both = [packages.datacentre("550.54.15", with_open) for with_open in (False, True)]
    assert [one.file_name for one in both] == [
        "nvidia-driver-550_550.54.15-1_amd64.deb",
        "nvidia-driver-550-open_550.54.15-1_amd64.deb",
    ]
    assert packages.installer_name("550.54.15") == "NVIDIA-Linux-x86_64-550.54.15-grid.run"
    assert [one.name for one in packages.toolkit("1.20.0")] == [
        "libnvidia-container1",
        "libnvidia-container-tools",
        "nvidia-container-toolkit-base",
        "nvidia-container-toolkit",
    ]


def test_the_refresh_of_cdi_comes_with_1_18():
    brought = {
        version: {path for one in packages.toolkit(version) for path in one.files} for version in packages.TOOLKIT
    }
    unit = "/usr/lib/systemd/system/nvidia-cdi-refresh.service"
    assert {version: unit in files for version, files in brought.items()} == {"1.17.8": False, "1.20.0": True}


def test_the_installer_carries_what_it_installs():
    head, _mark, payload = packages.installer("550.54.15").partition(b"\n__PAYLOAD__\n")
    assert b"version_string=550.54.15\n" in head
    with tarfile.open(fileobj=io.BytesIO(payload)) as tar:
        names = tar.getnames()
        listed = tar.extractfile("./usr/lib/nvidia/installed-files").read().decode().split()
    assert "./usr/bin/nvidia-uninstall" in names
    assert {f"./{one}" for one in listed} <= set(names)


@needs_gpg
def test_the_signature_of_a_repository_is_good_and_its_sums_are_right(tmp_path):
    signer = deb.Signer()
    try:
        found = deb.repository(packages.toolkit("1.20.0"), signer, "toolkit")
    finally:
        signer.close()
    ring = tmp_path / "ring.gpg"
    subprocess.run(["gpg", "--batch", "--homedir", tmp_path, "--dearmor", "-o", ring], input=signer.public, check=True)
    for name in ("Release", "Release.gpg"):
        (tmp_path / name).write_bytes(found[name])
    words = ["gpgv", "--homedir", tmp_path, "--keyring", ring, tmp_path / "Release.gpg", tmp_path / "Release"]
    subprocess.run(words, check=True, capture_output=True)
    assert gzip.decompress(found["Packages.gz"]) == found["Packages"]
    rows = dict(line.split()[::2][::-1] for line in found["Release"].decode().splitlines() if line.startswith(" "))
    assert rows["Packages"] == hashlib.sha256(found["Packages"]).hexdigest()
    entry = found["Packages"].decode().split("\n\n")[0]
    name = next(line.partition("./")[2] for line in entry.splitlines() if line.startswith("Filename"))
    assert f"SHA256: {hashlib.sha256(found[name]).hexdigest()}" in entry.splitlines()
