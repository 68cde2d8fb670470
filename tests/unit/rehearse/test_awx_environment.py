"""The definition of the execution environment: ansible-builder accepts it, and every version is pinned."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution

import pytest
import yaml
from packaging.requirements import Requirement

from house import environment_lock
from rehearse.awx_environment import (
    DEFINITION,
    LABELS,
    context,
    definition,
    expected,
    pip_configuration,
    problems,
    required,
)

DEFINED = yaml.safe_load((DEFINITION / "execution-environment.yml").read_text())
# A user may pin the base image by its digest.
BASE = f"images.example.org/ee-base@sha256:{'0' * 64}"
PINNED = re.compile(r"[\w-]+==\d+(\.\d+)+")


@pytest.fixture(scope="module")
def dockerfile(tmp_path_factory):
    collection = tmp_path_factory.mktemp("dist") / "aiready-vsphere-0.1.0.tar.gz"
    collection.touch()
    made = context(tmp_path_factory.mktemp("environment"), [collection], BASE)
    assert (made / "_build" / "configs" / "constraints.txt").read_text() == environment_lock.FILE.read_text()
    assert (made / "_build" / "galaxy" / collection.name).is_file()
    return (made / "Dockerfile").read_text()


def test_ansible_builder_accepts_the_definition(dockerfile):
    for line in (
        f'ARG EE_BASE_IMAGE="{BASE}"',
        # Every later stage begins with this one.
        "ENV PIP_CONSTRAINT=/etc/pip-constraints.txt",
        'LABEL org.opencontainers.image.title="aiready-ee"',
        "LABEL ansible-execution-environment=true",
    ):
        assert line in dockerfile.splitlines()


def test_the_image_runs_as_a_user_without_rights(dockerfile):
    assert [line for line in dockerfile.splitlines() if line.startswith("USER")][-1] == "USER 1000"


def test_every_package_is_pinned():
    needs = DEFINED["dependencies"]
    packages = [*needs["python"], *(needs[name]["package_pip"] for name in ("ansible_core", "ansible_runner"))]
    assert [one for one in packages if not PINNED.fullmatch(one)] == []


def test_the_lock_has_every_requirement_of_the_definition_and_of_its_collections():
    locked = environment_lock.locked()
    wrong = []
    for line in environment_lock.requirements():
        needed = Requirement(line)
        version = locked.get(environment_lock.canonical(needed.name), "0")
        if not needed.specifier.contains(version, prereleases=True) or version == "0":
            wrong.append(f"{line}: the lock has {version}")
    assert wrong == [], "Run python -m house.environment_lock in the folder tests."


def test_the_lock_has_what_its_packages_require():
    """Those of this environment with the version of the lock; the check of the built image compares all."""
    locked, seen, wrong = environment_lock.locked(), 0, []
    target = {
        "python_version": environment_lock.PYTHON,
        "platform_system": "Linux",
        "sys_platform": "linux",
        "extra": "",
    }
    for name, version in locked.items():
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        if package.version != version:
            continue
        seen += 1
        for needed in map(Requirement, package.requires or ()):
            if needed.marker is None or needed.marker.evaluate(target):
                found = locked.get(environment_lock.canonical(needed.name), "0")
                wrong += (
                    [] if needed.specifier.contains(found, prereleases=True) and found != "0" else [f"{name}: {needed}"]
                )
    assert wrong == []
    assert seen > len(locked) / 4


def test_every_collection_is_pinned_and_ours_has_its_version():
    named = {
        one["name"]: one["version"]
        for one in yaml.safe_load((DEFINITION / "requirements.yml").read_text())["collections"]
    }
    assert {"aiready.vsphere", "ansible.netcommon", "ansible.utils"} <= set(named)
    own = yaml.safe_load((DEFINITION.parents[2] / "galaxy.yml").read_text())["version"]
    assert named["aiready.vsphere"] == own


def test_the_lab_changes_only_the_base_image_and_the_source_of_the_collection():
    changed = definition(["c.tar.gz"])
    assert {key for key in changed if changed[key] != DEFINED.get(key)} == {
        "images",
        "dependencies",
        "additional_build_files",
    }
    assert {**changed["dependencies"], "galaxy": "requirements.yml"} == DEFINED["dependencies"]


GOOD = {
    "size": 600 * 1000**2,
    "user": "1000",
    "uid": "1000",
    "labels": LABELS,
    "callback": "aiready.vsphere.stages",
    "packages": {**environment_lock.locked(), "pip": "23.0.1"},
    "collections": required(),
    "programs": ["/usr/bin/ssh", "/usr/bin/sshpass", "/opt/ee/bin/ansible-runner"],
}


def test_an_image_as_defined_has_no_problem():
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    "changed, reason",
    [
        ({"size": 2 * 1000**3}, "it has 2000 MB, more than 900 MB"),
        ({"uid": "0"}, "it runs as user 1000 with id 0"),
        ({"user": "root"}, "it runs as user root"),
        ({"labels": {}}, "the label org.opencontainers.image.title is missing"),
        ({"callback": ""}, "its callback is"),
        ({"packages": {**GOOD["packages"], "ansible-core": "2.16.0"}}, "ansible-core is 2.16.0, not 2.19"),
        ({"packages": expected()}, "the package matplotlib is missing"),
        ({"packages": {}}, "pyvmomi is None, not 9."),
        ({"collections": {}}, "the collection aiready.vsphere is None"),
        ({"collections": {**required(), "vmware.vmware": "2.5.0"}}, "the collection vmware.vmware is 2.5.0, not 2."),
        ({"programs": []}, "the program sshpass is missing"),
    ],
)
def test_each_difference_of_an_image_is_named(changed, reason):
    assert reason in "; ".join(problems({**GOOD, **changed}))


def test_the_image_gets_the_package_index_of_this_machine_and_none_of_its_files():
    listed = """\
:env:.cert='/srv/ca.pem'
:env:.log='/srv/pip.log'
global.constraint='/srv/constraints.txt'
global.index-url='https://packages.example.org/simple'
global.trusted-host='more.example.org'
global.mirrors='file:///srv/simple https://more.example.org/simple https://ops:secret@own.example.org/simple'
global.default-timeout='180'
"""
    assert pip_configuration(listed).splitlines() == [
        "[global]",
        "index-url = https://packages.example.org/simple",
        "mirrors = https://more.example.org/simple",
        "default-timeout = 180",
        "cert = /etc/ssl/certs/ca-certificates.crt",
        "",
    ]


def test_what_the_definition_leaves_out_is_a_package_of_a_collection_and_not_pinned():
    left = DEFINED["dependencies"]["exclude"]
    assert not set(left["python"]) & set(expected())
