"""What is missing on the site with DirectPath on vSphere 9.1: P2P, ATS, the mode, the label, the image or the token."""

from __future__ import annotations

import contextlib

from vsphere_twin.model import gpudirect

from . import FIRST, OTHER, Fault, attribute, entry, host, named, nothing, vm

TOKEN = "/proc/token.xml"
DEPOT = "[datastore-01] depots/NVD-AIE-900_595.71.03-1OEM.900.0.0.24755229_24000000.zip"


@contextlib.contextmanager
def no_p2p(twin):
    """A VM of hardware that needs the settings for peer-to-peer traffic, without them."""
    one = vm(twin, FIRST)
    with contextlib.ExitStack() as planted:
        planted.enter_context(attribute(twin, one, "hardware_version", "vmx-21"))
        for key in gpudirect.SETTINGS:
            planted.enter_context(entry(twin, one.extra, key, None))
        yield


@contextlib.contextmanager
def no_ats(twin):
    setting = host(twin, OTHER).kernel.settings["atsSupport"]
    with attribute(twin, setting, "runtime", "FALSE"), attribute(twin, setting, "configured", "FALSE"):
        yield


def no_image(twin):
    (cluster,) = twin.world.of_kind("ClusterComputeResource")
    return attribute(twin, cluster.image, "managed", False)


def stage(plant, *words, by="hosts", **more):
    return Fault("direct", plant, (named(*words),), by=by, **more)


def lab(**site):
    return {"site": site}


FAULTS = {
    "direct-no-p2p": stage(
        no_p2p,
        "fatal: [localhost]",
        FIRST,
        *gpudirect.SETTINGS,
        by="machines",
        lab=lab(machine={"hardware_version": 21}),
    ),
    "direct-no-label": stage(
        nothing,
        "fatal: [localhost]",
        "is labelled other",
        "the labels there are aiready-0000-36",
        by="machines",
        lab=lab(directpath={"label": "other"}),
    ),
    "direct-no-ats": stage(no_ats, f"fatal: [{OTHER}]", "atsSupport is FALSE", lab=lab(network={"ats": "ignore"})),
    "direct-no-mode": stage(
        nothing,
        f"fatal: [{OTHER}]",
        "No GPU of the host is in the mode enhanced_direct_path",
        lab=lab(directpath={"assignment": "dvx", "gpu_class": "com.example.gpu", "port_class": "com.example.port"}),
    ),
    "direct-no-image": stage(
        no_image,
        f"fatal: [{OTHER}",
        "this cluster has none yet",
        lab=lab(licence="nvaie", driver={"depot": DEPOT}),
    ),
    "direct-no-token": stage(
        nothing,
        "blocks: vCenter, login:",
        TOKEN,
        by="preflight",
        lab={"site_vcenter_password": "", **lab(vcenter={"saml_token_file": TOKEN, "username": None})},
    ),
}
