# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A guest in a folder, with as many programs as the tests need: its fields define what they do."""

from __future__ import annotations

import json

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import NOT_FOUND, Commands, Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

KERNEL = "5.15.0-105-generic"
UBUNTU = 'ID=ubuntu\nVERSION_ID="22.04"\nPRETTY_NAME="Ubuntu 22.04.4 LTS"\nID_LIKE=debian\n'
ROCKY = 'ID="rocky"\nVERSION_ID="9.4"\nPRETTY_NAME="Rocky Linux 9.4 (Blue Onyx)"\nID_LIKE="rhel centos fedora"\n'
SMI = """
Driver Version                            : {version}
Attached GPUs                             : 1
GPU 00000000:02:00.0
    Product Name                          : NVIDIA A100-40C
    GPU UUID                              : GPU-57abc772-1dd3-11b2-8fae-e31710b8f307
    MIG Mode
        Current                           : Disabled
    GPU Virtualization Mode
        Virtualization Mode               : VGPU
    vGPU Software Licensed Product
        Product Name                      : NVIDIA Virtual Compute Server
        License Status                    : {licence}
    FB Memory Usage
        Total                             : 40960 MiB
"""
NO_DEVICES = "No devices were found"
NO_DRIVER = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA "
    "driver is installed and running."
)
MISMATCH = "Failed to initialize NVML: Driver/library version mismatch"


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self, wall=1_780_000_000.0):
        self.start, self.spent = wall, 0.0

    def wall(self):
        return self.start + self.spent

    def monotonic(self):
        return 1000.0 + self.spent

    def sleep(self, seconds):
        self.spent += seconds


class Guest(Commands):
    """Its commands: those of a Debian family guest with a vGPU, unless a test says otherwise."""

    def __init__(self, root, os_release=UBUNTU):
        self.root = root
        self.files = Files(str(root))
        self.ran = []
        # Of these the commands that may use the network.
        self.over_network = []
        # {name: (version, state)} of packages, and what a repository offers as {name: [versions]}.
        self.packages = {"bash": ("5.1", "ii "), "dkms": ("2.8", "ii ")}
        self.offers = {}
        self.programs = {"gcc", "make", "dkms", "update-initramfs"}
        # What refuses: {first words of a command: what it says}.
        self.refusals = {}
        self.licence = "Unlicensed (Unrestricted)"
        self.gpu = True
        self.keys_enrolled = set()
        self.put("/etc/os-release", os_release)
        self.put("/etc/machine-id", "6b2d1f0f5b8c4f6c9a0e6f1f2b3c4d5e\n")
        self.put(f"/lib/modules/{KERNEL}/build/Makefile", "")

    def put(self, path, text=""):
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        return target

    def package_file(
        self, folder, name="nvidia-linux-grid-550", version="550.54.15", architecture="amd64", ending="deb"
    ):
        """A package that these programs can read."""
        path = folder / f"{name}_{version}_{architecture}.{ending}"
        path.write_text(json.dumps({"name": name, "version": version, "architecture": architecture}))
        return str(path)

    def find(self, program):
        return f"/usr/bin/{program}" if program in self.programs else None

    def did(self, *words):
        """The commands that begin with these words."""
        return [argv for argv in self.ran if argv[: len(words)] == words]

    def run(self, argv, limit_s=60, stdin="", env=None, network=False):
        argv = tuple(argv)
        self.ran.append(argv)
        if network:
            self.over_network.append(argv)
        for words, said in self.refusals.items():
            if " ".join(argv).startswith(words):
                return Done(argv, 1, "", said)
        handler = getattr(self, "_" + argv[0].replace("-", "_"), None)
        if handler is None:
            return Done(argv, NOT_FOUND, "", "not there")
        rc, out = handler(argv)
        return Done(argv, rc, out, "") if rc == 0 else Done(argv, rc, "", out)

    def _dpkg_query(self, argv):
        rows = [f"{name}\t{version}\tamd64\t{state}" for name, (version, state) in sorted(self.packages.items())]
        return 0, "\n".join(rows) + "\n"

    def _rpm(self, argv):
        if argv[1] == "-qa":
            return 0, "".join(f"{name}\t{version}-1\tx86_64\n" for name, (version, _state) in self.packages.items())
        reported = self._read(argv[-1])
        return (0, f"{reported['name']}\t{reported['version']}-1\tx86_64\n") if reported else (1, "not an rpm package")

    def _dpkg_deb(self, argv):
        reported = self._read(argv[2])
        if reported is None:
            return 2, "is not a Debian format archive"
        return (
            0,
            f"Package: {reported['name']}\nVersion: {reported['version']}\nArchitecture: {reported['architecture']}\n",
        )

    def _read(self, path):
        try:
            with open(path) as file:
                return json.load(file)
        except ValueError:
            return None

    def _dpkg(self, argv):
        if "--install" in argv:
            self.install(self._read(argv[-1]))
        for name, (version, state) in list(self.packages.items()):
            if state in ("iU ", "iF "):
                self.packages[name] = (version, "ii ")
        return 0, ""

    def _apt_get(self, argv):
        verb = next(word for word in argv if word in ("install", "remove", "update"))
        what = [word for word in argv[argv.index(verb) + 1 :] if not word.startswith("-")]
        return self._change(verb, what)

    def _dnf(self, argv):
        if "--duplicates" in argv:
            return 1, "Error: No duplicated packages found for removal."
        return self._change("remove" if "remove" in argv else "install", list(argv[3:]))

    def _change(self, verb, what):
        for one in what:
            if verb == "remove":
                self.packages.pop(one)
                self.built(None)
            elif one.startswith("/"):
                self.install(self._read(one))
            elif one.startswith(("linux-headers", "kernel-devel")):
                self.put(f"/lib/modules/{KERNEL}/build/Makefile", "")
            elif one.split("=")[0] in self.offers:
                name, _equals, version = one.partition("=")
                self.install({"name": name, "version": version or self.offers[name][0]})
            else:
                self.packages[one] = ("1.0", "ii ")
                self.programs.add(one)
        return 0, ""

    def install(self, reported):
        self.packages[reported["name"]] = (reported["version"], "ii ")
        if reported["name"].startswith("nvidia-linux-grid"):
            self.built(reported["version"].split("-")[0])

    def built(self, version):
        self.module = version

    module = None

    @property
    def loaded(self):
        return (self.files.text("/sys/module/nvidia/version") or "").strip() or None

    def load(self, version):
        self.put("/sys/module/nvidia/version", f"{version}\n")

    def _apt_cache(self, argv):
        return 0, "".join(f" {argv[2]} | {version} | depot\n" for version in self.offers.get(argv[2], []))

    def _modinfo(self, argv):
        return (0, f"filename: nvidia.ko\nversion:        {self.module}\n") if self.module else (1, "not found")

    def _modprobe(self, argv):
        if self.module is None:
            return 1, "modprobe: FATAL: Module nvidia not found in directory /lib/modules"
        if self.loaded is None:
            self.load(self.module)
        return 0, ""

    def _dkms(self, argv):
        driver = next((name for name in self.packages if name.startswith("nvidia-linux-grid")), None)
        self.built(self.packages[driver][0] if driver else None)
        return 0, ""

    def _nvidia_smi(self, argv):
        if "-q" not in argv:
            return 0, self.users
        if self.loaded is None:
            return 9, NO_DRIVER
        if self.loaded != self.module:
            return 18, MISMATCH
        return (0, SMI.format(version=self.loaded, licence=self.licence)) if self.gpu else (6, NO_DEVICES)

    users = ""

    def _sh(self, argv):
        version = argv[1].rsplit("x86_64-", 1)[1].split("-")[0]
        self.built(version)
        self.put("/usr/bin/nvidia-uninstall")
        self.put("/usr/bin/nvidia-gridd")
        self.put(f"/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.{version}")
        return 0, ""

    def _nvidia_uninstall(self, argv):
        for path in self.root.glob("usr/**/*nvidia*"):
            path.unlink()
        self.built(None)
        return 0, ""

    def _mokutil(self, argv):
        return (
            (1, f"{argv[2]} is already enrolled")
            if argv[2] in self.keys_enrolled
            else (0, f"{argv[2]} is not enrolled")
        )

    def _update_initramfs(self, argv):
        return 0, ""

    def _dmesg(self, argv):
        return 0, self.kernel_said

    kernel_said = ""
