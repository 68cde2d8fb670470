from __future__ import annotations

from ..contract import GuestRow

PACKAGES = ("nvidia-linux-grid-550", "nvidia-linux-grid-535")
NOUVEAU = "/etc/modprobe.d/blacklist-nouveau.conf"
OBSERVE = {
    **{name: ["dpkg-query", "-W", "-f", "${db:Status-Abbrev}${Version}", name] for name in PACKAGES},
    "loaded": ["cat", "/sys/module/nvidia/version"],
    "nouveau": ["cat", NOUVEAU],
}
BLOCKED = "blacklist nouveau\noptions nouveau modeset=0"


def driver(version, ending="deb", **more):
    """The parameters for a driver of the lab's depot, made when its address is known."""
    branch = version.split(".")[0]
    names = {
        "deb": f"nvidia-linux-grid-{branch}_{version}_amd64.deb",
        "run": f"NVIDIA-Linux-x86_64-{version}-grid.run",
    }

    def params(guest):
        url = guest.twin.endpoint()["depot"]["url"]
        return {
            "package": f"{url}/grid/{names[ending]}",
            "host_version": "550.54.16",
            "install_requirements": True,
            **more,
        }

    return params


# nouveau is in the kernel of a guest with a GPU until the reboot after it was blocked.
WITHOUT_NOUVEAU = (
    {"name": "nouveau is blocked", "ansible.builtin.copy": {"dest": NOUVEAU, "content": f"{BLOCKED}\n"}},
    {"name": "nouveau is gone", "ansible.builtin.reboot": {}},
)

ROWS = [
    GuestRow(
        module="vgpu_guest_driver",
        name="a package from an address, then the one of an older branch, and all of it before a reboot",
        vm={"vgpus": ["grid_a100-40c"]},
        create=driver("550.54.15"),
        modify=driver("535.161.08", downgrade="allow"),
        delete={"state": "absent"},
        observe=OBSERVE,
        created={PACKAGES[0]: "ii 550.54.15", PACKAGES[1]: None, "loaded": None, "nouveau": BLOCKED},
        modified={PACKAGES[0]: None, PACKAGES[1]: "ii 535.161.08", "loaded": None, "nouveau": BLOCKED},
        deleted={PACKAGES[0]: None, PACKAGES[1]: None, "loaded": None, "nouveau": None},
    ),
    GuestRow(
        module="vgpu_guest_driver",
        name="a run file, then a package in its place",
        vm={"vgpus": ["grid_a100-40c"]},
        before=WITHOUT_NOUVEAU,
        create=driver("550.54.15", "run"),
        modify=driver("550.90.07"),
        delete={"state": "absent"},
        observe=OBSERVE,
        created={PACKAGES[0]: None, PACKAGES[1]: None, "loaded": "550.54.15", "nouveau": BLOCKED},
        # The module that is in the kernel stays there until the reboot.
        modified={PACKAGES[0]: "ii 550.90.07", PACKAGES[1]: None, "loaded": "550.54.15", "nouveau": BLOCKED},
        deleted={PACKAGES[0]: None, PACKAGES[1]: None, "loaded": "550.54.15", "nouveau": None},
        # Check mode cannot know what nvidia-smi will show.
        unforeseen=("gpus",),
    ),
]
