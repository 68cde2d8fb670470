# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import base64
import json

import pytest
import yaml
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.clone import cloud_init


def decoded(requested, name="train-01"):
    found = cloud_init.settings(requested, name)
    assert {value for key, value in found.items() if key.endswith(".encoding")} == {"base64"}
    return {
        key.removeprefix("guestinfo."): base64.b64decode(value).decode()
        for key, value in found.items()
        if not key.endswith(".encoding")
    }


def test_a_vm_with_userdata_alone_has_an_identity_of_its_own():
    found = decoded({"userdata": "#cloud-config\nä: ö"})
    assert json.loads(found["metadata"]) == {"instance-id": "train-01", "local-hostname": "train-01"}
    assert found["userdata"] == "#cloud-config\nä: ö"


@pytest.mark.parametrize(
    "metadata",
    [
        {"local-hostname": "one.example.com", "network": {"version": 2}},
        '{"local-hostname": "one.example.com", "network": {"version": 2}}',
        "local-hostname: one.example.com\nnetwork:\n  version: 2\n",
        '"local-hostname" : one.example.com\nnetwork: {version: 2}',
    ],
    ids=["dictionary", "JSON", "YAML", "YAML with quotes"],
)
def test_metadata_in_any_form_keeps_what_it_says_and_gets_what_is_missing(metadata):
    found = yaml.safe_load(decoded({"metadata": metadata})["metadata"])
    assert found == {"local-hostname": "one.example.com", "network": {"version": 2}, "instance-id": "train-01"}


def test_a_key_deeper_in_yaml_is_no_identity():
    found = yaml.safe_load(decoded({"metadata": "other:\n  instance-id: x\n"})["metadata"])
    assert found["instance-id"] == "train-01"


@pytest.mark.parametrize(
    "name, host", [("Train_01", "train-01"), ("a b/c", "a-b-c"), ("--", "localhost"), ("x" * 80, "x" * 63)]
)
def test_a_host_name_is_made_from_any_name(name, host):
    assert cloud_init.host_name(name) == host


def test_what_is_set_is_reported_by_its_parts_alone():
    extra = {"guestinfo.userdata": "x", "guestinfo.metadata": "y", "guestinfo.userdata.encoding": "base64"}
    assert cloud_init.parts_set(extra) == ("metadata", "userdata")
