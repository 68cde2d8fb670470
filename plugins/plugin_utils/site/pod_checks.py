# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Checks of nodes in pods from a site: inputs of the role kubernetes, and the problems of their section."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import pod_network, stack, validation, vks
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.guests import part_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.relaxed import relaxed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEY = "site.kubernetes.checks"
SHARED_GPU = ("vgpu", "mig")
# A shell in the pod and the command of the read test have the path without quotes.
FILE = re.compile(r"(/[A-Za-z0-9._-]+)+")
# Folders of each image, which a volume would hide.
OF_IMAGE = ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys", "usr")


def pod_checks(site: Mapping[str, Any], requested: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs, from a validated site with this section."""
    own, asked = requested["checks"], part_of(site, "validation")
    image = own["image"] or site["training"]["image"]
    return {
        "image": image,
        "namespace": pod_network.of_checks(requested),
        "pull_secrets": pull_secrets(requested, own),
        "limit_s": own["limit_s"],
        "dcgm_level": site["stack"]["dcgm"]["diag"],
        **{key: stack.stack(site)[key] for key in ("dcgm_health", "gds", "gds_file")},
        "gds_claim": own["gds_claim"] or "",
        "pairs": _pairs(own, image, asked),
        "jobs": _jobs(site, asked) if own["jobs"] else {},
        "intent": _intent(site, requested, asked),
        "thresholds": asked["thresholds"],
        "simulated": asked["simulated"],
        "notes": asked["notes"],
        "relaxed": _relaxed(site),
        "fail_on": asked["fail_on"],
        "site": site["cluster"] or site["datacenter"] or "",
    }


def pull_secrets(requested: Mapping[str, Any], part: Mapping[str, Any]) -> list[str]:
    """The secrets of pods, with the one that the role creates."""
    own = requested["pull_secret"]
    return [*part["pull_secrets"], *([own] if own and own not in part["pull_secrets"] else [])]


def _relaxed(site: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The settings of the validation that are less strict than the defaults."""
    found = [one for one in relaxed(site) if one["setting"].startswith("site.validation.")]
    # Without VMs, the number of nodes is unknown here.
    return [one for one in found if site["vms"] or one["setting"] != "site.validation.nodes"]


def _pairs(own: Mapping[str, Any], image: str, asked: Mapping[str, Any]) -> dict[str, Any]:
    if not own["pairs"]:
        return {}
    given = {key: asked[key] for key in ("seconds", "qps", "streams", "rounds")}
    return {"image": own["pairs"]["image"] or image, **given}


def _jobs(site: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """NCCL, OSU programs and trainings across nodes, as the filter site_validation requests them of guests."""
    on_processors = site["training"]["gpus"] == "none"
    without = validation.without_gpus(asked) if on_processors else {}
    return {
        **{key: asked[key] for key in ("nodes", "rounds", "arguments", "nccl_command")},
        "osu": validation.programs(asked),
        "transports": ["tcp"] if on_processors else None,
        "skip": {**without, **validation.without_launcher(site, asked)},
    }


def _intent(site: Mapping[str, Any], requested: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """The requirements of the nodes, in the format of the filter site_validation. The role adds the nodes."""
    network = site["network"] if requested["network_operator"] else None
    driver = (requested["gpu_operator"]["driver"] or {}).get("version")
    if not driver and not requested["gpu_operator"]["driver"]:
        driver = ((site["guests"] or {}).get("driver") or {}).get("version")
    if stack.is_digest(driver):
        driver = None
    return {
        "data_path": network["path"] if network else "tcp",
        "mtu": network["mtu"] if network else None,
        "gpus_per_guest": site["gpu"]["per_vm"],
        "gpu": site["gpu"]["profile"] or "",
        "licence": site["gpu"]["mode"] in SHARED_GPU,
        "memlock": (site["guests"] or {}).get("limits", {}).get("memlock", "unlimited"),
        # OpenShift names the system of the nodes after the version.
        "driver": (driver or "").partition("-")[0] or None,
        "stack": {key: one for key, one in stack.stack(site).items() if key in suite.OPTIONS},
        "skip": asked["skip"],
    }


def problems(site: Mapping[str, Any]) -> Iterator[str]:
    """Conflicts between the checks and the other sections of a validated site."""
    requested = site["kubernetes"]["checks"]
    if not requested:
        return
    if not requested["image"] and not (site["training"] or {}).get("image"):
        yield f"{KEY}.image: it is not set, and the site has no training whose image the pods could use. Name an image."
    if requested["jobs"] and not site["kubernetes"]["training"]:
        yield (
            f"{KEY}.jobs: they are jobs like that of site.kubernetes.training, which is not set. Add it, or set "
            f"{KEY}.jobs to false."
        )
    if requested["limit_s"] < 1:
        yield f"{KEY}.limit_s: {requested['limit_s']} is not a valid time. Use at least 1 second."
    yield from _read_test(site["stack"]["gds"]["read_file"], requested["gds_claim"])
    if site["kubernetes"]["gpu_operator"]["mig_strategy"] == "mixed":
        yield (
            "site.kubernetes.gpu_operator.mig_strategy: with mixed, the GPUs have one resource for each profile, and "
            f"the pods of {KEY} request nvidia.com/gpu. Set it to single."
        )


def _read_test(file: str | None, claim: str | None) -> Iterator[str]:
    """The file that the pods read into GPU memory, and the volume that has it."""
    key = "site.stack.gds.read_file"
    if claim and not file:
        yield f"{KEY}.gds_claim: {key} is not set, so no pod reads the volume. Set it, or remove {KEY}.gds_claim."
    if claim and not vks.SUBDOMAIN.fullmatch(claim):
        yield (
            f"{KEY}.gds_claim: {claim} is not a valid name in Kubernetes. Use lower-case letters, digits, - and ., and "
            "begin and end with a letter or a digit."
        )
    if not file or not file.startswith("/"):
        return
    folder = posixpath.dirname(file)
    if not FILE.fullmatch(file) or posixpath.normpath(file) != file:
        yield (
            f"{key}: {file} cannot be read in pods. Use a path of letters, digits, ., _ and - without . and .. as "
            "the name of a folder."
        )
    elif folder == "/" or folder.split("/")[1] in OF_IMAGE:
        yield (
            f"{key}: the pods mount its folder {folder}, which would hide files of the image. Use a folder of the "
            "storage, such as /data."
        )
