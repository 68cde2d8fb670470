# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Restore of guests knows each file that the roles and modules for guests write."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.baseline import table
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.network import roce_state
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages import guest_plan, runtime_plan

from house.collection import ROOT, load

ROLES = ("container_runtime", "guest_vm", "horovod", "validation")
# Modules of Ansible that write a file, and the option that has its path.
WRITERS = {"copy": "dest", "template": "dest", "blockinfile": "path", "lineinfile": "path", "file": "path"}
OTHERS = {
    "ansible.builtin.yum_repository": "/etc/yum.repos.d/X.repo",
    "ansible.builtin.user": "~/.ssh/id_ed25519",
}
# Values of the plans at the variables in the paths of tasks. X is any name.
VALUES = {
    "__guest_vm_plan.chrony.file": "/etc/chrony.conf",
    "__guest_vm_plan.driver.package": "/var/tmp/X.run",
    "__guest_vm_plan.driver.ca_file": guest_plan.DRIVER_CA,
    "__guest_vm_home": "~",
    "__container_runtime_plan.registries.folder": "/etc/docker/certs.d",
    "__container_runtime_repository.key": f"{runtime_plan.RPM_KEYS}X",
}
# The same for the paths in modules.
PARTS = {
    "{unit}": "docker.service",
    "{self._engine.unit}": "docker.service",
    "{self._engine.name}": "docker",
    "{unit_name(interface)}": roce_state.unit_name("ens224"),
    "{path.rpartition('/')[2]}.d/{MINE}": "X.network.d/X.conf",
}
# Paths in modules that no stage writes, or that belong to a package.
READ = (
    *("/etc/machine-id", "/etc/os-release", "/etc/modprobe.d", "/etc/netplan", "/etc/nvidia"),
    *("/etc/docker/certs.d", "/etc/containers/certs.d", "/etc/systemd/network", "/etc/network/{folder}"),
)
FOLDER = ROOT / "plugins" / "module_utils" / "guest"


def tasks(entries: list[dict]) -> Iterator[dict]:
    for entry in entries:
        yield entry
        for part in ("block", "rescue", "always"):
            yield from tasks(entry.get(part) or [])


def written() -> Iterator[tuple[str, str]]:
    """(name of the task, path that it writes) of each role for guests."""
    for role in ROLES:
        for file in sorted((ROOT / "roles" / role / "tasks").iterdir()):
            for task in tasks(load(file.relative_to(ROOT).as_posix())):
                for name, option in WRITERS.items():
                    arguments = task.get(f"ansible.builtin.{name}")
                    if arguments and arguments.get("state") != "directory":
                        yield task["name"], arguments[option]
                yield from ((task["name"], path) for name, path in OTHERS.items() if name in task)


def known(path: str) -> bool:
    for name, value in VALUES.items():
        path = path.replace(f"{{{{ {name} }}}}", value)
    for name, value in PARTS.items():
        path = path.replace(name, value)
    path = re.sub(r"\{\{.*?\}\}|\{.*?\}", "X", path)
    patterns = [one for row in table.ROWS for one in row.paths]
    return any(re.fullmatch(re.escape(one).replace(r"\*", "[^/]*").replace(r"\?", "[^/]"), path) for one in patterns)


@pytest.mark.parametrize("name, path", [pair for pair in written() if "__container_runtime_place" not in pair[1]])
def test_restore_knows_each_file_that_a_role_writes(name, path):
    assert known(path), f"plugins/module_utils/guest/baseline/table.py has no row for {path} of the task {name}"


def test_restore_knows_each_path_in_etc_that_a_module_names():
    files = [path for path in sorted(FOLDER.rglob("*.py")) if path.parent.name != "baseline"]
    found = {path for file in files for path in re.findall(r'"(/etc/[^"*]+)"', file.read_text())}
    assert {path for path in found if not known(path)} == set(READ)


@pytest.mark.parametrize(
    "path", ["/etc/apt/keyrings/docker.asc", "/usr/share/keyrings/nvidia-container-toolkit-keyring.asc"]
)
def test_restore_knows_the_keys_of_repositories(path):
    assert path in (ROOT / "plugins/plugin_utils/stages/runtime_plan.py").read_text()
    assert known(path)
