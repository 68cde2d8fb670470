# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""A site, and answers of looks at it, for tests of what becomes of them."""

from __future__ import annotations

SITE = {
    "vcenter": {"hostname": "vcenter.example.com", "username": "automation"},
    "cluster": "gpu",
    "gpu": {"mode": "vgpu", "profile": "grid_a100-40c"},
    "vms": [{"prefix": "job-", "count": 2}],
}
CREATES = {
    **SITE,
    "machine": {"template": "ubuntu", "folder": "training", "datastore": "ds-01", "cpus": 8, "memory_gb": 64},
}
LIMITS = {"clock_s": 30, "controller_gb": 1, "guest_gb": 10}
INSIDE = {**SITE, "guests": {"driver": {"package": "/pkg/nvidia-linux-grid-550_550.54.15_amd64.deb"}, "licence": {}}}
FAILED = {
    "failed": True,
    "msg": "Host esx-01: it was wanted. It is not there. Bring it.",
    "failure": {"subject": "Host esx-01", "code": "x"},
}


def preview(**changes):
    """What the role esxi_host keeps of a host that lacks nothing."""
    return {
        "host": {"version": "8.0.3", "cluster": "gpu", "connection": "connected", "driver": {"version": "550.54.16"}},
        "gaps": [],
        "restart": {"kind": "none", "reasons": [], "cold_reasons": [], "reboot": False},
        "unseen": [],
        "allowed": {"reboot": "allow", "cold_cycle": "refuse", "bmc": True, "ssh": True},
        "answers": {"look": {"host": {}}, "cluster": {}, "ports": {}, "bios": {"bios": {}}},
        **changes,
    }


# What the filter machine_left answers where no VM left the site.
NOBODY_LEFT = {"left": [], "others": [], "problems": [], "running": [], "holding": ""}
