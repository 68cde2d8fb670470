# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""A first site from a capture: hosts.yml, site.yml and a skeleton of the vault, with marked guesses and named gaps."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import BOARDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ansible_collections.aiready.vsphere.plugins.module_utils.capture.view import Host, Site, Vm

# Connection variables by platform, as docs/fabric.md lists them.
_CLI, _SHELL = "ansible.netcommon.network_cli", "ssh"
_CONNECTIONS = {
    "cumulus": ("cumulus", _SHELL, True),
    "enterprise_sonic": ("dellemc.enterprise_sonic.sonic", _CLI, False),
    "eos": ("arista.eos.eos", _CLI, True),
    "junos": ("junipernetworks.junos.junos", _CLI, False),
    "nxos": ("cisco.nxos.nxos", _CLI, False),
    "onyx": ("aiready.vsphere.onyx", _CLI, True),
    "os10": ("aiready.vsphere.os10", _CLI, False),
    "sonic": ("sonic", _SHELL, True),
}
_TEMPLATE = re.compile(r"\{[{%#]")
_PLAIN = re.compile(r"[A-Za-z][\w./-]*(?: [\w./-]+)*")
_WORDS = ("yes", "no", "on", "off", "true", "false", "null", "y", "n")
# The size of a new VM, as far as a host has room for it.
_CPUS, _MEMORY_GB = 16, 64
_FILL = "# fill in:"
_GUESS = "# guessed:"


@dataclass
class Written:
    """The files by their paths, the guesses, and the values that only a person can fill in."""

    files: dict[str, str] = field(default_factory=dict)
    guesses: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)


def scalar(value: object) -> str:
    """A value in YAML, quoted where needed. Ansible would run a template in it, and a capture is not trusted."""
    text = str(value)
    if _TEMPLATE.search(text):
        raise OperatorError(
            "the capture",
            "cannot be written as a site",
            f"The name {text!r} in it contains a template, which Ansible would run.",
            "Correct the name on the site, and capture the site again",
            "capture_damaged",
        )
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else json.dumps(text)


def _one_line(text: str) -> str:
    """A text of a capture in a comment must not begin a line of its own."""
    return "".join(sign if sign.isprintable() else "?" for sign in text)


class _Writer:
    """Collects lines, and what was guessed or is missing in them."""

    def __init__(self, made: Written, names: Mapping[str, str]) -> None:
        self.made = made
        self.lines: list[str] = ["---"]
        self._names = names

    def name(self, pseudonym: str) -> str:
        return scalar(self._names.get(pseudonym, pseudonym))

    def line(self, text: str, guess: str = "") -> None:
        if guess:
            self.made.guesses.append(f"{text.strip()} ({guess})")
            text = f"{text}  {_GUESS} {guess}"
        self.lines.append(_one_line(text))

    def fill(self, indent: str, what: str, example: str) -> None:
        """A value that only a person knows, as a comment above an example."""
        self.made.missing.append(what)
        self.lines += [f"{indent}{_FILL} {what}", f"{indent}{example}"]

    def note(self, indent: str, what: str) -> None:
        """A gap without a value in the file."""
        self.made.missing.append(what)
        self.lines.append(_one_line(f"{indent}{_FILL} {what}"))

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def write(site: Site, names: Mapping[str, str]) -> Written:
    """The files of a first site. names: original names by pseudonym; without them the files have the pseudonyms."""
    made = Written()
    cluster, hosts = _cluster(site)
    network = _network(site, hosts)
    made.files["hosts.yml"] = _hosts(made, site, hosts, names)
    made.files["group_vars/all/site.yml"] = _site(made, site, cluster, hosts, network, names)
    made.files["group_vars/all/vault.yml.example"] = _VAULT
    made.files["group_vars/esxi_hosts/connection.yml"] = _SHELL_OF_HOSTS
    return made


def _cluster(site: Site) -> tuple[str | None, list[Host]]:
    """The cluster with the most GPUs, and its hosts with GPUs."""
    with_gpus = [host for host in site.hosts.values() if host.gpus]
    counted: dict[str | None, int] = {}
    for host in with_gpus:
        counted[host.cluster] = counted.get(host.cluster, 0) + len(host.gpus)
    if not counted:
        return next(iter(site.clusters), None), []
    chosen = max(sorted(counted, key=str), key=lambda name: counted[name])
    return chosen, sorted((one for one in with_gpus if one.cluster == chosen), key=lambda one: one.name)


@dataclass
class _Network:
    path: str
    nics: list[str] = field(default_factory=list)
    vmknic: str = ""
    portgroup: str = ""


def _network(site: Site, hosts: list[Host]) -> _Network:
    """PVRDMA where every host has an RDMA port on a distributed switch with a VMkernel port of its own."""
    found: list[_Network] = []
    for host in hosts:
        mine = _pvrdma(site, host)
        if mine is None:
            return _Network("tcp")
        found.append(mine)
    first = found[0] if found else _Network("tcp")
    return first if all(one == first for one in found) else _Network("tcp")


def _pvrdma(site: Site, host: Host) -> _Network | None:
    for vmknic in sorted(host.vmknics.values(), key=lambda one: one.device):
        group = site.portgroups.get(vmknic.portgroup or "")
        nics = [one.device for one in host.nics.values() if group and one.rdma and one.switch == group.switch]
        if group is not None and nics:
            return _Network("pvrdma", sorted(nics), vmknic.device, group.name)
    return None


def _profile(hosts: list[Host]) -> tuple[str, str] | None:
    """The largest C type that all hosts offer or whose board they have, and how it was found."""
    offered = [set(host.vgpu_types) for host in hosts]
    common = set.intersection(*offered) if offered else set()
    whole = [one for one in common if re.fullmatch(r".+-\d+c", one) and not re.fullmatch(r".+-\d-\d+c", one)]
    if whole:
        return max(
            whole, key=lambda one: (int(one[one.rindex("-") + 1 : -1]), one)
        ), "the largest type that all hosts offer"
    boards = {host.device_ids.get(address) for host in hosts for address in host.gpus}
    if len(boards) == 1:
        device = boards.pop()
        for board in BOARDS:
            if int(board.pci_device_id, 16) == device and board.time_sliced:
                size = max(one.gb for one in board.time_sliced)
                return f"{board.vsphere_prefix}-{size}c", "a whole GPU of this board; no host offers types yet"
    return None


def _site(
    made: Written, site: Site, cluster: str | None, hosts: list[Host], network: _Network, names: Mapping[str, str]
) -> str:
    out = _Writer(made, names)
    out.line("# A first site, written from a capture. Check each line with the mark 'guessed', and fill in the others.")
    out.line("# docs/site.md explains every key.")
    out.line("site:")
    out.line("  name: training", "the mark of the VMs of this site; choose it before the first run")
    out.line("  vcenter:")
    out.fill("    ", "the name of vCenter and a user", "hostname: vcenter.example.org")
    out.line("    username: automation@vsphere.local")
    out.line("    # ca_file: /etc/ssl/certs/vcenter-ca.pem")
    if len(site.datacenters) == 1:
        out.line(f"  datacenter: {out.name(site.datacenters[0])}")
    if cluster is not None:
        more = "the cluster with the most GPUs" if len(site.clusters) > 1 else ""
        out.line(f"  cluster: {out.name(cluster)}", more)
    out.line("  hosts:")
    out.line("    serial: 1")
    out.fill("    ", "allow, if hosts may restart in maintenance mode", "reboot: refuse")
    out.line("    bmc:")
    out.fill("      ", "the user of the BMCs", "username: automation")
    if not all(host.driver for host in hosts):
        out.note("  ", "site.driver with the depot of the host driver. No driver was read on each host")
    _of_network(out, network)
    _of_gpus(out, hosts)
    _of_vms(out, site, hosts)
    out.line("  power: refuse")
    out.note("  ", "the sections guests, runtime, training and validation. Without them, these stages change nothing")
    return out.text


def _of_network(out: _Writer, network: _Network) -> None:
    out.line("  network:")
    if network.path == "tcp":
        out.line("    path: tcp", "not every host has an RDMA port and a VMkernel port on one distributed switch")
        return
    out.line(f"    path: {network.path}", "RDMA ports with a VMkernel port on their switch")
    out.line(f"    nics: [{', '.join(map(scalar, network.nics))}]")
    out.line(f"    vmknic: {scalar(network.vmknic)}")
    out.line(f"    portgroup: {out.name(network.portgroup)}", "the port group of the VMkernel port")


def _of_gpus(out: _Writer, hosts: list[Host]) -> None:
    profile = _profile(hosts)
    out.line("  gpu:")
    out.line("    mode: vgpu", "one VM for each GPU")
    if profile is None:
        out.fill("    ", "the vGPU profile, as vSphere shows it", "profile: grid_a100-40c")
    else:
        out.line(f"    profile: {scalar(profile[0])}", profile[1])


def _of_vms(out: _Writer, site: Site, hosts: list[Host]) -> None:
    own = {host.name for host in hosts}
    existing = sorted(vm.name for vm in site.vms.values() if vm.gpus and not vm.template and vm.host in own)
    if existing:
        out.line("  vms:", "the VMs that have GPUs now")
        for name in existing:
            out.line(f"    - name: {out.name(name)}")
        return
    templates = sorted((vm for vm in site.vms.values() if vm.template), key=lambda vm: vm.name)
    if not templates:
        out.fill("  ", "the VMs that train, or a template for new ones", "vms: []")
        return
    out.line("  machine:")
    out.line(f"    template: {out.name(templates[0].name)}", "the first template" if len(templates) > 1 else "")
    folder = _folder(site, templates)
    if folder:
        out.line(f"    folder: {out.name(folder)}", "the folder of other VMs")
    gpus = sum(len(host.gpus) for host in hosts)
    most = max((len(host.gpus) for host in hosts), default=1)
    cpus = min([_CPUS, *(host.cores // most for host in hosts if host.cores)])
    memory = min([_MEMORY_GB, *(host.memory_gb // most // 2 for host in hosts if host.memory_gb)])
    out.line(f"    cpus: {max(cpus, 1)}", "a share of the processors of a host")
    out.line(f"    memory_gb: {max(memory, 1)}", "a share of the memory of a host; all of it is reserved")
    out.line("  vms:")
    out.line("    - prefix: job-")
    if gpus:
        out.line(f"      count: {gpus}", "one VM for each GPU")
    else:
        out.fill("      ", "the number of new VMs. The capture shows no GPU", "count: 1")
    if most > 1:
        out.line("  placement:")
        out.line("    anti_affinity: false", "hosts have several GPUs")


def _folder(site: Site, templates: list[Vm]) -> str | None:
    apart = {vm.folder for vm in templates}
    found = sorted({vm.folder for vm in site.vms.values() if vm.folder and not vm.template} - {None, *apart})
    return found[0] if found and found[0] != "vm" else None


def _hosts(made: Written, site: Site, hosts: list[Host], names: Mapping[str, str]) -> str:
    out = _Writer(made, names)
    out.line("# Hosts and switches of a first site, written from a capture. Host names are those in vCenter.")
    out.line("all:")
    out.line("  hosts:")
    out.line("    localhost:")
    out.line("      ansible_connection: local")
    out.line('      ansible_python_interpreter: "{{ ansible_playbook_python }}"')
    out.line("  children:")
    out.line("    esxi_hosts:")
    out.line("      hosts:" if hosts else "      hosts: {}")
    if not hosts:
        out.note("      ", "the hosts with GPUs. The capture shows none")
    for host in hosts:
        out.line(f"        {out.name(host.name)}:")
        out.line(f"          # {_described(host)}")
        if host.bmc:
            out.line(f"          bmc_address: {out.name(host.bmc)}")
        else:
            name = names.get(host.name, host.name)
            out.note("          ", f"bmc_address of {name}. Without it, its BIOS is not checked")
    _of_switches(out, site, {host.name for host in hosts})
    return out.text


def _described(host: Host) -> str:
    gpus = sorted({gpu.name or "GPU" for gpu in host.gpus.values()})
    ports = [f"{one.device} {(one.speed_mb or 0) // 1000}G" for one in host.nics.values() if one.is_fabric]
    return f"{len(host.gpus)} x {', '.join(gpus)}; fabric ports: {', '.join(ports) or 'none'}"


def _of_switches(out: _Writer, site: Site, hosts: set[str]) -> None:
    """Spines are first, since switches are changed in this order."""
    ports: dict[str, tuple[list[str], list[str]]] = {}
    peers: dict[str, set[str]] = {}
    for own, switch in site.switches.items():
        heard = [(port, one.system) for port, found in switch.neighbours.items() for one in found]
        to_hosts = [port for port, system in heard if system in hosts]
        to_switches = [port for port, system in heard if system in site.switches]
        if to_hosts or to_switches:
            ports[own] = (to_hosts, to_switches)
            peers[own] = {system for _port, system in heard if system in site.switches}
        else:
            out.note("    ", f"the ports of switch {out.name(own)}. It shows no LLDP neighbour of this site")
    if not ports:
        out.note("    ", "the group switches, if this collection configures them")
        return
    spines = {own for own in ports if not ports[own][0] and any(ports[peer][0] for peer in peers[own] if peer in ports)}
    out.line("    switches:")
    out.line("      children:")
    for group, leaves in (("spines", False), ("leaves", True)):
        mine = [own for own in sorted(ports) if (own not in spines) is leaves]
        if not mine:
            continue
        out.line(f"        {group}:", "by LLDP: between switches with hosts" if not leaves else "")
        out.line("          hosts:")
        for own in mine:
            out.line(f"            {out.name(own)}:")
            for key, found in zip(("switch_host_ports", "switch_fabric_ports"), ports[own]):
                if found:
                    out.line(f"              {key}: [{', '.join(map(scalar, found))}]", "by LLDP")
    out.note("    ", "ansible_host of each switch whose name does not resolve, and the user")
    for platform in sorted({site.switches[own].platform for own in ports}):
        network_os, connection, become = _CONNECTIONS[platform]
        out.line(f"    {platform}:")
        out.line("      hosts:")
        for own in sorted(ports):
            if site.switches[own].platform == platform:
                out.line(f"        {out.name(own)}:")
        out.line("      vars:")
        out.line(f"        ansible_network_os: {network_os}")
        out.line(f"        ansible_connection: {connection}")
        out.line("        # ansible_user: automation")
        if connection == _CLI:
            out.line('        ansible_password: "{{ site_switch_password }}"')
        if become:
            out.line("        ansible_become: true")
            if connection == _CLI:
                out.line("        ansible_become_method: ansible.netcommon.enable")
            else:
                out.line('        ansible_become_password: "{{ site_switch_password }}"')


_VAULT = """\
# Passwords. Copy this file to vault.yml, fill it in, and encrypt it with `ansible-vault encrypt vault.yml`.
---
# fill in: the password of the user of vCenter
site_vcenter_password: ""
# fill in: the password of the user of the BMCs
site_bmc_password: ""
# fill in: the password of the user of the switches
site_switch_password: ""
"""
_SHELL_OF_HOSTS = """\
---
# Connection to the shell of a host. Only MIG and the firmware of network adapters need it.
ansible_connection: ssh
ansible_user: root
# fill in: an SSH key whose public half is in /etc/ssh/keys-root/authorized_keys of each host
# ansible_ssh_private_key_file: ~/.ssh/esxi
"""
