"""The recipes of training images: versions of packages and of Horovod, and the base that the lab starts from too."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

docker = pytest.importorskip("docker")

from supervise.runs import ROOT  # noqa: E402
from vsphere_twin.guests import building  # noqa: E402  (needs the engine's library)

IMAGES = ROOT / "roles/horovod/files/images"
RECIPES = sorted(path.name for path in IMAGES.iterdir() if path.is_dir())
RECIPE = IMAGES / "horovod-debian-cpu"
CUDA = RECIPE.with_name("horovod-cuda")
ROW = re.compile(r"[a-z0-9][a-z0-9+.-]+ \S+")
BASE = {"libc6": "2.36-9", "openssl": "3.0.1"}
PINNED = {"make": "4.3-4.1", "openssl": "3.0.2"}
SOURCES = """Types: deb
URIs: http://packages.example.com/debian
Suites: bookworm

Types: deb
URIs: https://mirror.example.com/debian-security/
Suites: bookworm-security
"""


def rows(path):
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


class Image:
    """A folder that stands for an image, with a dpkg that shows these packages."""

    def __init__(self, folder):
        self.folder, self.apt, self.shown = folder / "list", folder / "apt", folder / "shown"
        for one in (self.folder, self.apt / "apt.conf.d", self.apt / "preferences.d", self.apt / "sources.list.d"):
            one.mkdir(parents=True)
        (self.apt / "sources.list.d" / "debian.sources").write_text(SOURCES)
        lines = [f"{name} {version}" for name, version in PINNED.items()]
        (self.folder / "packages.txt").write_text("\n".join(["# SNAPSHOT=20261125T000000Z", *lines, ""]))
        dpkg = folder / "dpkg-query"
        dpkg.write_text(f"#!/bin/sh\ncat {self.shown}\n")
        dpkg.chmod(0o755)
        self.env = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
        self.env.update(IMAGE_PACKAGES=str(self.folder), IMAGE_APT=str(self.apt))

    def run(self, *arguments, **packages):
        self.shown.write_text("".join(f"ii {name} {version}\n" for name, version in packages.items()))
        command = ["sh", str(RECIPE / "image-packages"), *arguments]
        ran = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture(name="image")
def _image(tmp_path):
    image = Image(tmp_path)
    assert image.run("prepare", "exact", **BASE) == (0, "")
    return image


def test_packages_of_the_list_are_pinned_while_apt_installs(image):
    pins = (image.apt / "preferences.d" / "image").read_text()
    assert "Package: openssl\nPin: version 3.0.2\nPin-Priority: 1001\n" in pins
    assert "SNAPSHOT" not in pins
    assert image.run("check", "exact", **{**BASE, **PINNED}) == (0, "")
    assert not (image.apt / "preferences.d" / "image").exists()


@pytest.mark.parametrize("differs", [{"make": "4.3-4.2"}, {"cmake": "3.25.1-1"}], ids=["version", "package"])
def test_other_package_ends_an_exact_build_with_both_ways_to_go_on(image, differs):
    status, output = image.run("check", "exact", **{**BASE, **PINNED, **differs})
    assert status == 1
    for name, version in differs.items():
        assert f"  {name} {version}" in output
    assert "--build-arg SNAPSHOT=20261125T000000Z" in output
    assert "--build-arg PACKAGES=current" in output


def test_point_release_ends_no_build_with_current_packages_and_is_reported(image):
    status, output = image.run("check", "current", **{**BASE, **PINNED, "make": "4.3-4.2"})
    assert (status, "I: 1 packages are not those of packages.txt" in output) == (0, True)
    assert "make 4.3-4.2" in (image.folder / "installed.txt").read_text()


def test_packages_of_the_base_are_known_by_its_digest(image):
    assert image.run("check", "exact", **BASE) == (0, "")
    # The second stage has the packages of the first one too.
    image.run("prepare", "exact", **{**BASE, **PINNED})
    assert "make" not in (image.folder / "base.txt").read_text()


def test_current_packages_are_not_pinned(tmp_path):
    image = Image(tmp_path)
    image.run("prepare", "current", **BASE)
    assert not (image.apt / "preferences.d" / "image").exists()


def test_snapshot_replaces_every_mirror(tmp_path):
    image = Image(tmp_path)
    image.run("prepare", "exact", "20261125T000000Z", **BASE)
    found = re.findall("URIs: (.*)", (image.apt / "sources.list.d" / "debian.sources").read_text())
    archive = "http://snapshot.debian.org/archive"
    assert found == [f"{archive}/debian/20261125T000000Z", f"{archive}/debian-security/20261125T000000Z"]
    assert "Valid-Until" in (image.apt / "apt.conf.d" / "snapshot").read_text()


def test_every_list_has_a_version_for_each_package():
    for path in (RECIPE / "packages.txt", building.RECORDED):
        assert [row for row in rows(path) if not ROW.fullmatch(row)] == []
        names = [row.split()[0] for row in rows(path)]
        assert sorted(set(names)) == sorted(names)
    assert re.search(r"^# SNAPSHOT=\d{8}T\d{6}Z$", (RECIPE / "packages.txt").read_text(), re.MULTILINE)


def test_packages_that_the_recipe_asks_for_are_in_its_list():
    asked = re.findall(r"--no-install-recommends ((?:\\\n|[a-z0-9+. -])+)", (RECIPE / "Dockerfile").read_text())
    names = {name for found in asked for name in re.findall(r"[a-z][a-z0-9+.-]+", found)}
    assert len(names) > 20
    assert names - {row.split()[0] for row in rows(RECIPE / "packages.txt")} == set()


def test_recipe_for_gpus_has_versions_and_hashes():
    text = (CUDA / "Dockerfile").read_text()
    packages = re.search('ARG PACKAGES="(.*)"', text)[1].split()
    assert [one for one in packages if "=" not in one] == []
    # The download of Horovod, whose changed sources are installed afterwards, and the packages that it needs.
    assert len(re.findall(r"pip3 (?:download|install)[^&]*--require-hashes", text)) == 2
    assert len(re.findall(r"pip3 install[^&]*/build/horovod ", text)) == 1
    pinned = re.findall(r"^([a-z]+)==\S+ \\\n    --hash=sha256:", (CUDA / "python.txt").read_text(), re.MULTILINE)
    assert set(pinned) >= set((CUDA / "python.in").read_text().split())
    # The build of Horovod takes cffi from the index, without a version or a hash, if there is none yet.
    assert text.index("--require-hashes -r /build/python.txt") < text.index(
        "pip3 install --no-deps --no-build-isolation"
    )


@pytest.mark.parametrize("gpus, passed", [("", None), ("80,90", "80,90")])
def test_kernels_are_compiled_for_all_gpus_that_cuda_supports_or_for_those_of_the_argument(gpus, passed):
    """Horovod reads the capabilities of the compiler if the variable is unset, and fails if it is empty."""
    text = (CUDA / "Dockerfile").read_text()
    assert "\nARG GPUS=\n" in text
    (words,) = re.findall(r"env (\$\{GPUS.*?\}\}) ", text)
    script = f"env {words} printenv HOROVOD_BUILD_CUDA_CC_LIST"
    environment = {"GPUS": gpus, "PATH": os.environ["PATH"]}
    ran = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (ran.stdout.strip() or None) == passed


def test_lab_and_recipe_have_the_same_base():
    assert f"ARG BASE={building.PLAIN}\n" in (RECIPE / "Dockerfile").read_text()


@pytest.mark.parametrize("recipe_name", RECIPES)
def test_a_recipe_pins_horovod_by_its_content(recipe_name):
    text = (IMAGES / recipe_name / "requirements.txt").read_text(encoding="utf-8")
    assert re.fullmatch(r"horovod==0\.28\.1 --hash=sha256:[0-9a-f]{64}\n", text)


def test_all_recipes_mean_the_same_horovod():
    assert len({(IMAGES / name / "requirements.txt").read_text(encoding="utf-8") for name in RECIPES}) == 1


def test_all_recipes_change_the_sources_in_the_same_way():
    assert len({(IMAGES / name / "horovod-standard").read_text(encoding="utf-8") for name in RECIPES}) == 1


def standard(tmp_path, recipe, header=""):
    """(status, output, recipe afterwards) for PyTorch with this header."""
    sources, headers = tmp_path / "horovod" / "horovod" / "torch", tmp_path / "include" / "ATen"
    sources.mkdir(parents=True)
    (sources / "CMakeLists.txt").write_text(recipe)
    gloo = tmp_path / "horovod" / "third_party" / "gloo" / "CMakeLists.txt"
    gloo.parent.mkdir(parents=True)
    gloo.write_text("project(gloo CXX C)\n")
    if header:
        headers.mkdir(parents=True)
        (headers / "ATen.h").write_text(header)
    command = ["sh", str(RECIPE / "horovod-standard"), str(tmp_path / "horovod")]
    ran = subprocess.run([*command, f"{tmp_path}/none:{tmp_path}/include"], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr, (sources / "CMakeLists.txt").read_text()


@pytest.mark.parametrize(
    "header, number",
    [
        pytest.param("", 14, id="headers elsewhere, as in Debian"),
        pytest.param("#error C++14 or later compatible compiler is required to use ATen.\n", 14, id="PyTorch 2.0"),
        pytest.param("#error C++17 or later compatible compiler is required to use ATen.\n", 17, id="PyTorch 2.1"),
        pytest.param("#error C++20 or later compatible compiler is required to use ATen.\n", 20, id="PyTorch 2.14"),
    ],
)
def test_horovod_is_compiled_by_the_standard_that_pytorch_demands(tmp_path, header, number):
    status, output, recipe = standard(tmp_path, "if(X)\n    set(CMAKE_CXX_STANDARD 14)\nendif()\n", header)
    assert (status, recipe) == (0, f"if(X)\n    set(CMAKE_CXX_STANDARD {number})\nendif()\n")
    assert output == f"Horovod is compiled with C++{number} for PyTorch.\n"
    gloo = (tmp_path / "horovod" / "third_party" / "gloo" / "CMakeLists.txt").read_text()
    assert gloo == (f"set(CMAKE_CXX_STANDARD {number})\n" if number > 14 else "") + "project(gloo CXX C)\n"


def test_other_sources_are_not_changed(tmp_path):
    status, output, recipe = standard(tmp_path, "set(CMAKE_CXX_STANDARD 17)\n")
    assert (status, recipe) == (1, "set(CMAKE_CXX_STANDARD 17)\n")
    assert "CMakeLists.txt is not that of Horovod 0.28.1." in output


@pytest.mark.parametrize("recipe_name", RECIPES)
def test_a_recipe_asks_for_every_part_of_horovod_by_name(recipe_name):
    text = (IMAGES / recipe_name / "Dockerfile").read_text(encoding="utf-8")
    assert {"PYTORCH", "MPI", "GLOO"} <= set(re.findall(r"HOROVOD_WITH_(\w+)=1", text))


def test_no_python_file_is_left_out_since_packages_compile_theirs():
    rows = (RECIPE / "dpkg.cfg").read_text(encoding="utf-8").splitlines()
    left_out = [row.partition("=")[2] for row in rows if row.startswith("path-exclude=")]
    assert [row for row in left_out if "python3" in row and not row.endswith("/torch/bin/test_*")] == []
