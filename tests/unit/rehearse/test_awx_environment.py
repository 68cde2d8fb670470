"""The definition of the execution environment: ansible-builder accepts it, and every version is pinned."""

from __future__ import annotations

import re

import pytest
import yaml

from rehearse.awx_environment import DEFINITION, context, definition

DEFINED = yaml.safe_load((DEFINITION / "execution-environment.yml").read_text())
PINNED = re.compile(r"[\w-]+==\d+(\.\d+)+")


@pytest.fixture(scope="module")
def dockerfile(tmp_path_factory):
    collection = tmp_path_factory.mktemp("dist") / "aiready-vsphere-0.1.0.tar.gz"
    collection.touch()
    made = context(tmp_path_factory.mktemp("environment"), collection)
    assert (made / "_build" / "galaxy" / collection.name).is_file()
    return (made / "Dockerfile").read_text()


def test_ansible_builder_accepts_the_definition(dockerfile):
    for line in (
        'ARG EE_BASE_IMAGE="aiready-lab/ee-base:1"',
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


def test_every_collection_is_pinned_and_ours_has_its_version():
    named = {
        one["name"]: one["version"]
        for one in yaml.safe_load((DEFINITION / "requirements.yml").read_text())["collections"]
    }
    assert {"aiready.vsphere", "ansible.netcommon", "ansible.utils"} <= set(named)
    own = yaml.safe_load((DEFINITION.parents[2] / "galaxy.yml").read_text())["version"]
    assert named["aiready.vsphere"] == own


def test_the_lab_changes_only_the_base_image_and_the_source_of_the_collection():
    changed = definition("c.tar.gz")
    assert {key for key in changed if changed[key] != DEFINED.get(key)} == {
        "images",
        "dependencies",
        "additional_build_files",
    }
    assert {**changed["dependencies"], "galaxy": "requirements.yml"} == DEFINED["dependencies"]
