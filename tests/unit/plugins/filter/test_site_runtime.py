"""What the stage for container engines gets out of a site."""

from __future__ import annotations

import pathlib

import pytest
import yaml
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule

from house.collection import filter_example, filter_sample
from house.handover import handed_over
from unit.plugins.filter.seen_guests import site

site_runtime = FilterModule().filters()["site_runtime"]
ROLES = pathlib.Path(__file__).resolve().parents[4] / "roles"
PREFIX = "container_runtime_"
NGC = {"address": "nvcr.io", "username": "$oauthtoken"}


def options():
    spec = yaml.safe_load((ROLES / "container_runtime" / "meta" / "argument_specs.yml").read_text())
    return spec["argument_specs"]["main"]["options"]


def test_site_that_says_nothing_of_engines_means_the_defaults_of_the_role():
    reported, role = site_runtime(site()), options()
    assert reported == {name: role[PREFIX + name]["default"] for name in reported}


@pytest.mark.parametrize(
    "requested",
    [
        {"engine": "podman"},
        {
            "registries": [NGC, {"address": "images.example.org:5000", "ca_file": "/etc/ssl/ca.pem"}],
            "proxy": {"http": "http://proxy:3128", "no_proxy": [".example.org"], "username": "p"},
            "toolkit_repository": {"url": "https://mirror.example.org"},
        },
        {"toolkit_repository": {"key_fingerprints": ["A" * 40]}},
    ],
    ids=["little", "much", "a key of one's own"],
)
def test_role_takes_its_inputs(requested):
    reported = site_runtime(site(runtime=requested), {"nvcr.io": "key"}, "secret")
    answer = ArgumentSpecValidator(options()).validate({PREFIX + name: value for name, value in reported.items()})
    assert answer.error_messages == []


def test_fingerprints_that_the_site_leaves_out_are_left_to_the_role():
    mirror = {"url": "https://mirror.example.org"}
    assert "key_fingerprints" not in site_runtime(site(runtime={"toolkit_repository": mirror}))["toolkit_repository"]
    reported = site_runtime(site(runtime={"toolkit_repository": {**mirror, "key_fingerprints": []}}))
    assert reported["toolkit_repository"]["key_fingerprints"] == []


def test_each_registry_with_a_user_gets_its_password_and_no_other_does():
    requested = {"registries": [NGC, {"address": "mirror.example.org"}], "proxy": {"http": "http://proxy:1"}}
    reported = site_runtime(site(runtime=requested), {"nvcr.io": "key", "mirror.example.org": "unused"}, "unused")
    assert [one.get("password") for one in reported["registries"]] == ["key", None]
    assert "unused" not in str(reported)


def test_documented_result_is_what_the_example_gives():
    example = filter_example("site_runtime")["site"]
    assert site_runtime(example) == filter_sample("site_runtime")


def test_playbook_hands_the_role_everything_that_is_reported():
    assert handed_over("runtime", "container_runtime") - {"gpu"} == set(site_runtime(site()))
