# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""A guest in a folder whose package manager, systemd and adapters answer what the record of a guest asks."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import record
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline.noun import BaselineRequest, GuestBaseline
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.commands import NOT_FOUND, Commands, Done
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.files import Files

from unit.plugins.module_utils.guest.driver.test_noun import Ended, Module

DEBIAN = 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Debian GNU/Linux 12"\n'
ROCKY = 'ID="rocky"\nVERSION_ID="9.4"\nPRETTY_NAME="Rocky Linux 9.4"\nID_LIKE="rhel centos fedora"\n'
LIMITS = "/etc/security/limits.d/90-aiready.conf"
STAGES = ("guests", "runtime", "training", "validation")


class Guest(Commands):
    """packages: {name: [version, manual, depends]}; adapters: {name: [mtu, addresses]}; active: units."""

    def __init__(self, root, os_release=DEBIAN):
        self.root, self.files = root, Files(str(root))
        self.ran = []
        self.packages = {"libc6": ["2.36", False, ""], "bash": ["5.1", True, "libc6"]}
        self.adapters = {"ens224": [1500, []]}
        self.active = {"systemd-timesyncd"}
        self.containers = 0
        self.programs = {"systemctl", "ip"}
        # Packages that no repository has.
        self.absent = set()
        self.put("/etc/os-release", os_release)
        self.put("/etc/machine-id", "6b2d1f0f5b8c4f6c9a0e6f1f2b3c4d5e\n")
        self.put("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\nops:x:1000:1000::/home/ops:/bin/bash\n")
        self.put("/etc/.pwd.lock", mode=0o600)
        self.put("/etc/group", "root:x:0:\nops:x:1000:\n")

    def put(self, path, text="", mode=0o644):
        target = self.root / path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
        target.chmod(mode)

    def gone(self, path):
        (self.root / path.lstrip("/")).unlink()

    def tree(self):
        """{path: content, mode or target} of everything, to compare two moments."""
        found = {}
        for place, folders, names in os.walk(self.root):
            for name in [*folders, *names]:
                path = os.path.join(place, name)
                text = os.readlink(path) if os.path.islink(path) else os.path.isdir(path) or Path(path).read_bytes()
                found[path[len(str(self.root)) :]] = (text, os.lstat(path).st_mode)
        return dict(found, packages=repr(sorted(self.packages.items())), active=sorted(self.active))

    def find(self, program):
        return f"/usr/bin/{program}" if program in self.programs else None

    def run(self, argv, limit_s=60, stdin="", env=None, network=False):
        argv = tuple(argv)
        self.ran.append(argv)
        handler = getattr(self, "_" + argv[0].replace("-", "_"), None)
        if handler is None:
            return Done(argv, NOT_FOUND, "", "not there")
        rc, out = handler(argv)
        return Done(argv, rc, out, "") if rc == 0 else Done(argv, rc, "", out)

    def _dpkg_query(self, argv):
        if "Depends" in argv[3]:
            rows = [f"{name}\tii \t{one[2]}, \t" for name, one in self.packages.items()]
        elif "Conffiles" in argv[3]:
            return 0, "".join(f"{name}\t\n" for name in argv[4:])
        else:
            rows = [f"{name}\t{one[0]}\tamd64\tii " for name, one in self.packages.items()]
        return 0, "\n".join(rows) + "\n"

    def _apt_mark(self, argv):
        if argv[1] == "showmanual":
            return 0, "\n".join(name for name, one in self.packages.items() if one[1])
        for name in argv[2:]:
            self.packages[name][1] = argv[1] == "manual"
        return 0, ""

    def _apt_get(self, argv):
        what = [word for word in argv[argv.index("install") + 1 :] if not word.startswith("-")]
        gone = {word[:-1] for word in what if word.endswith("-")}
        lost = self.absent & {word.partition("=")[0] for word in what}
        if lost:
            return 100, f"E: Version for {sorted(lost)[0]} was not found"
        if "-s" in argv:
            needing = {name for name, one in self.packages.items() if gone & set(one[2].split(", "))}
            return 0, "".join(f"Remv {name} [1]\n" for name in sorted(gone | needing))
        for word in what:
            name, _equals, version = word.partition("=")
            if word[:-1] in gone:
                self.packages.pop(word[:-1])
            else:
                self.packages[name] = [version, False, ""]
        return 0, ""

    def _dpkg(self, argv):
        return 0, ""

    def _rpm(self, argv):
        if argv[1] == "-qa":
            return 0, "".join(f"{name}\t{one[0]}\tx86_64\n" for name, one in self.packages.items())
        if argv[1] == "-q":
            return 0, f"{argv[-1]}\n"
        needing = [(one, name) for name, two in self.packages.items() for one in argv[3:] if one in two[2].split(", ")]
        lines = [f"\t{one} is needed by (installed) {name}-1.x86_64" for one, name in needing if name not in argv[3:]]
        return (1, "error: Failed dependencies:\n" + "\n".join(lines)) if lines else (0, "")

    def _nvidia_uninstall(self, argv):
        self.gone("/usr/bin/nvidia-uninstall")
        return 0, ""

    def _dnf(self, argv):
        if argv[2] == "repoquery":
            return 0, "" if argv[-1] in self.absent else "2.0-1\n"
        if argv[2] == "install":
            self.packages.update({word.partition("-2.0")[0]: ["2.0-1", False, ""] for word in argv[3:]})
            return 0, ""
        for name in argv[4:]:
            self.packages.pop(name)
        return 0, ""

    def _systemctl(self, argv):
        if argv[1] == "is-active":
            return 0, "\n".join("active" if unit in self.active else "inactive" for unit in argv[2:])
        if argv[1] in ("start", "stop"):
            (self.active.add if argv[1] == "start" else self.active.discard)(argv[2])
        return 0, ""

    def _docker(self, argv):
        return 0, "4f66ad9\n" * self.containers

    def _ip(self, argv):
        if argv[1] == "-j":
            rows = [
                {
                    "ifname": name,
                    "mtu": mtu,
                    "addr_info": [{"local": one.split("/")[0], "prefixlen": int(one.split("/")[1])} for one in found],
                }
                for name, (mtu, found) in self.adapters.items()
            ]
            return 0, json.dumps(rows)
        if argv[1] == "link":
            self.adapters[argv[4]][0] = int(argv[6])
        else:
            had = self.adapters[argv[5]][1]
            (had.append if argv[2] == "add" else had.remove)(argv[3])
        return 0, ""

    # What a task of the collection does.
    def baseline(self, state, stages, check=False, users=("train",), interrupted="keep"):
        requested = BaselineRequest(state, stages, users, interrupted, 0)
        item = Item("job-01", requested, {"name": "job-01", "machine_id": None})
        with pytest.raises(Ended) as ended:
            runner.run(Module(check), GuestBaseline(requested, self, self.files), [item], "baseline", True)
        return ended.value.args[0]["baseline"]

    def body(self):
        return record.load(self.files, "job-01")
