"""What the stage for Kubernetes gets from a site, and sites that it rejects."""

from __future__ import annotations

import pytest
from ansible_collections.aiready.vsphere.plugins.filter.filters import FilterModule
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.checks import problems

from house.collection import filter_example, filter_sample
from house.handover import handed_over
from unit.plugins.plugin_utils.kubernetes.clusters import DRIVER, SITE, site

site_kubernetes = FilterModule().filters()["site_kubernetes"]


def with_driver(**more):
    return site(gpu_operator={"driver": {**DRIVER, **more}})


def test_sample_of_the_filter(monkeypatch):
    monkeypatch.setenv("HOME", "/home/ops")
    assert site_kubernetes(filter_example("site_kubernetes")["site"]) == filter_sample("site_kubernetes")


def test_role_takes_everything_that_is_worked_out_from_the_site():
    beside = {"licence_token", "supervisor_password", "result_dir", "registry_passwords"}
    assert handed_over("kubernetes", "kubernetes") - beside == set(site_kubernetes(SITE))


def test_site_without_a_cluster():
    assert site_kubernetes({key: value for key, value in SITE.items() if key != "kubernetes"})["kubeconfig"] == ""


def test_driver_of_a_vgpu_needs_a_licence_and_its_host():
    whole = {**with_driver(), "guests": {"user": "ops", "licence": {"token_file": "/srv/token"}}}
    made = site_kubernetes(whole)
    assert (made["gpu_operator"]["licensed"], made["host_driver"]) == (True, "550.54.16")
    assert made["token_file"] == "/srv/token"


@pytest.mark.parametrize("gpu", [{"mode": "passthrough"}, {"mode": "directpath"}])
def test_whole_gpu_needs_no_licence(gpu):
    made = site_kubernetes({**with_driver(), "gpu": gpu})
    assert (made["gpu_operator"]["licensed"], made["host_driver"]) == (False, "")


def chart(**more):
    return {"install": True, "repository": "https://charts.example.org/nvidia", "version": "v26.7.0", **more}


@pytest.mark.parametrize(
    "one",
    [
        chart(),
        chart(version="25.10.1-rc.1"),
        chart(ref="/srv/gpu-operator.tgz", repository=None, version=None),
        chart(ref="oci://charts.example.org/gpu-operator", repository=None),
        chart(install=False, version="25"),
    ],
)
def test_sound_chart(one):
    assert problems(site(gpu_operator={"chart": one})) == []


@pytest.mark.parametrize(
    "whole", [SITE, with_driver(), site(nodes={"pool": "gpu"}, context="ops", force=True, wait_s=60)]
)
def test_site_without_a_problem(whole):
    assert problems(whole) == []


@pytest.mark.parametrize(
    "whole, found",
    [
        pytest.param(site(kubeconfig=None), "kubeconfig", id="no kubeconfig"),
        pytest.param(site(kind="other"), "site.kubernetes.kind", id="unknown key"),
        pytest.param(site(wait_s=0), "site.kubernetes.wait_s: 0 is not a valid time", id="no time"),
        pytest.param(site(gpu_operator={"namespace": "GPU"}), "namespace: GPU is not a valid name", id="namespace"),
        pytest.param(site(gpu_operator={"namespace": "a.b"}), "namespace: a.b is not a valid name", id="dot"),
        pytest.param(site(gpu_operator={"namespace": "a" * 64}), "is not a valid name", id="long namespace"),
        pytest.param(site(gpu_operator={"policy": "a/b"}), "policy: a/b is not a valid name", id="policy"),
        pytest.param(site(gpu_operator={"mig_strategy": "all"}), "mig_strategy", id="MIG strategy"),
        pytest.param(site(gpu_operator={"chart": chart(version="25")}), "25 is not an exact version", id="range"),
        pytest.param(site(gpu_operator={"chart": chart(version=None)}), "an empty text is not an exact", id="no pin"),
        pytest.param(site(gpu_operator={"chart": chart(repository=None)}), "repository: it is not set", id="no URL"),
        pytest.param(site(gpu_operator={"chart": chart(ref="/a.tgz")}), "needs no repository", id="both"),
        pytest.param(
            site(gpu_operator={"driver": {"version": "550.54.15"}}),
            "repository and image are not set, and the image of the chart does not support a vGPU",
            id="image of the chart on a vGPU",
        ),
        pytest.param(
            with_driver(version="470.57.02"), "driver.version: The host driver 550.54.16 does not support", id="branch"
        ),
    ],
)
def test_site_with_a_problem(whole, found):
    (only,) = problems(whole)
    assert found in only


def test_cluster_is_shared_by_all_hosts():
    (found,) = problems(SITE, {"kubernetes": {"force": True}})
    assert found.startswith("site_host.kubernetes: it cannot differ between hosts.")
