from __future__ import annotations

from pathlib import Path

from ..contract import GuestRow
from .vgpu_guest_driver import WITHOUT_NOUVEAU, driver

FOLDER = "/etc/nvidia/ClientConfigToken"
NAME = "client_configuration_token_aiready.tok"
OBSERVE = {
    "settings": ["grep", "-E", "^[^#]", "/etc/nvidia/gridd.conf"],
    "tokens": ["find", FOLDER, "-name", "*.tok", "-printf", "%f %m\n"],
    "status": ["sh", "-c", "nvidia-smi -q | grep 'License Status' | cut -d: -f2 | cut -d'(' -f1"],
}


def token(guest):
    """The text of the token that the licence server of the lab takes."""
    return Path(guest.twin.endpoint()["licence"]["token_file"]).read_text()


ROWS = [
    GuestRow(
        module="vgpu_licence",
        name="a licence, another feature type, and back",
        vm={"vgpus": ["grid_a100-40c"]},
        before=lambda guest: (
            *WITHOUT_NOUVEAU,
            {"name": "The guest has a driver", "aiready.vsphere.vgpu_guest_driver": driver("550.54.15")(guest)},
        ),
        create=lambda guest: {"token": token(guest)},
        modify=lambda guest: {"feature_type": "compute", "settings": {"LicenseInterval": 60}},
        delete={"state": "absent", "settings": {"LicenseInterval": None}},
        observe=OBSERVE,
        created={"settings": "FeatureType=1", "tokens": f"{NAME} 744", "status": "Licensed"},
        modified={"settings": "FeatureType=4\nLicenseInterval=60", "tokens": f"{NAME} 744", "status": "Licensed"},
        deleted={"settings": "FeatureType=0", "tokens": "", "status": "Unlicensed"},
        # When a licence ends is known when it is there.
        unforeseen=("expiry", "product", "status", "gpus"),
    ),
]
