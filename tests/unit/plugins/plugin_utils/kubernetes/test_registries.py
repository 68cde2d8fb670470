"""The secret with the logins of registries, for the images of pods."""

from __future__ import annotations

import base64
import json

import pytest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.kubernetes import registries
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems as site_problems

from .clusters import requested, site

NGC = {"address": "nvcr.io", "username": "$oauthtoken"}
IMAGE = {"image": "nvcr.io/nvidia/cuda@sha256:" + "0" * 64}


def with_secret(runtime, **more):
    return {**site(pull_secret="ngc", checks=IMAGE, **more), "runtime": {"registries": runtime}}


def test_kubelet_reads_the_login():
    own = requested(with_secret([NGC, {"address": "images.example.org"}]))
    assert own["registry_secret"] == {"name": "ngc", "registries": [NGC]}
    made = registries.secret(own["registry_secret"], {"nvcr.io": "key", "other": "x"}, "aiready")
    assert (made["type"], made["metadata"]) == (registries.TYPE, {"name": "ngc", "namespace": "aiready"})
    found = json.loads(base64.b64decode(made["data"][".dockerconfigjson"]))
    login = base64.b64encode(b"$oauthtoken:key").decode()
    assert found == {"auths": {"nvcr.io": {"username": "$oauthtoken", "password": "key", "auth": login}}}


def test_pods_use_the_secret():
    whole = with_secret([NGC], training={"pull_secrets": ["mine"]})
    whole["training"] = {**IMAGE, "builtin": "small"}
    own = requested(whole)
    assert (own["training"]["pull_secrets"], own["checks"]["pull_secrets"]) == (["mine", "ngc"], ["ngc"])
    assert requested(site(checks=IMAGE))["registry_secret"] == {}


@pytest.mark.parametrize("passwords", [{}, None, {"nvcr.io": ""}])
def test_missing_password_is_a_problem(passwords):
    (found,) = registries.problems({"name": "ngc", "registries": [NGC]}, passwords)
    assert "Set the key nvcr.io of site_registry_passwords in a vault." in found
    assert registries.problems({"name": "ngc", "registries": [NGC]}, {"nvcr.io": "key"}) == []
    assert registries.problems({}, passwords) == []


@pytest.mark.parametrize(
    "name, runtime, words",
    [
        ("NGC", [NGC], "site.kubernetes.pull_secret: NGC is not a valid name"),
        ("ngc", [{"address": "nvcr.io"}], "has no registry with a username"),
    ],
)
def test_sites_that_are_rejected(name, runtime, words):
    whole = with_secret(runtime)
    whole["kubernetes"]["pull_secret"] = name
    assert words in " ".join(site_problems(whole))


def test_a_secret_that_no_pod_uses_is_rejected():
    whole = with_secret([NGC])
    del whole["kubernetes"]["checks"]
    assert "site.kubernetes.pull_secret: no pod uses the secret ngc." in " ".join(site_problems(whole))
