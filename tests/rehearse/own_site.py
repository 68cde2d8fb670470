"""The user's own inventory, mapped to a twin that has loaded a capture. The user's files are only read."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from . import own_guests
from .failure import RehearsalFailed

HOSTS = ("hosts.yml", "hosts.yaml", "hosts.ini", "hosts", "inventory.yml", "inventory.yaml", "inventory.ini")
SITES = ("site.yml", "site.yaml")
FOLDERS = ("group_vars", "host_vars")
ENCRYPTED = b"$ANSIBLE_VAULT"
# These stages need guests, and the services of the site that guests use.
INSIDE = own_guests.STAGES
# Connection variables that describe the platform of a switch. All others describe the path to the real switch.
PLATFORM = frozenset(["ansible_network_os", "ansible_connection", "ansible_become", "ansible_become_method"])
SECRETS = frozenset(["site_vcenter_session_id", "site_vcenter_rest_session_id", "site_switch_password"])
Variables = dict[str, Any]


@dataclass(frozen=True)
class Files:
    """The inventory source of a site, and the file of its variables if that lies beside the inventory."""

    source: Path
    variables: Path | None


@dataclass
class Mapped:
    """An inventory whose connections lead to the twin, and the parts of the site that the capture lacks."""

    inventory: dict[str, Any]
    hosts: list[str]
    switches: list[str]
    # Switches of the site, and hosts with a BMC, of which the capture has no data.
    lost_switches: list[str] = field(default_factory=list)
    why_lost: dict[str, str] = field(default_factory=dict)
    lost_bmcs: list[str] = field(default_factory=list)
    no_switches: bool = False
    left_out: list[str] = field(default_factory=list)
    # What guests of the lab have instead of the values of the site.
    assumptions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def unknown(self) -> list[str]:
        """Sentences on the parts that the verdict cannot cover."""
        found = []
        if self.lost_bmcs:
            found.append(f"The capture has no data of the BMCs of {', '.join(self.lost_bmcs)}.")
        if self.no_switches and not self.switches:
            found.append("The twin has no switch of the capture. No cable and no setting of a switch is compared.")
        if self.lost_switches:
            names = [
                f"{name} ({self.why_lost[name]})" if name in self.why_lost else name for name in self.lost_switches
            ]
            found.append(f"The twin has no data of the switches {', '.join(names)}.")
        return found


class _Tolerant(yaml.SafeLoader):
    """Reads files with tags of Ansible, such as !vault, whose values nobody needs here."""


_Tolerant.add_multi_constructor("!", lambda loader, suffix, node: "")


def files(site: str) -> Files:
    """The files that SITE names: a folder with an inventory, its site file, or its hosts file."""
    path = Path(site)
    if not path.exists():
        raise RehearsalFailed(
            f"Cannot read the site {site}. The path does not exist. "
            "Set SITE to your inventory folder, or to site.yml in it."
        )
    folder = path if path.is_dir() else _root(path)
    beside = next((folder / name for name in SITES if _is_site(folder / name)), None)
    hosts = next((folder / name for name in HOSTS if (folder / name).is_file()), None)
    if hosts is None and (beside is not None or not path.is_dir()):
        raise RehearsalFailed(
            f"Cannot read the inventory of {site}. {folder} has no {HOSTS[0]}. "
            "Put hosts.yml beside the site file, or set SITE to the inventory folder."
        )
    if path.is_file() and path.parent == folder and path.name not in HOSTS and path != beside:
        if not _is_site(path):
            raise RehearsalFailed(
                f"Cannot read the site {site}. The file has no key site. Set SITE to the file with the key site."
            )
        beside = path
    return Files(folder if beside is None or hosts is None else hosts, beside)


def _root(path: Path) -> Path:
    """The folder of the inventory that a file belongs to."""
    above = [one.parent for one in path.resolve().parents if one.name in FOLDERS]
    return above[0] if above else path.parent


def _is_site(path: Path) -> bool:
    return path.is_file() and "site" in read(path)


def read(path: Path) -> Variables:
    """The variables of a YAML file; encrypted files have none."""
    text = path.read_bytes()
    try:
        found = {} if text.startswith(ENCRYPTED) else yaml.load(text, _Tolerant)  # noqa: S506
    except yaml.YAMLError as problem:
        why = " ".join(str(problem).split())
        raise RehearsalFailed(f"Cannot read {path}. It is not valid YAML: {why}. Correct the file.") from problem
    return found if isinstance(found, dict) else {}


def listing(site: Files, work: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """The inventory as Ansible reads it, without templates being evaluated. Encrypted files are left out."""
    local = work / "localhost.yml"
    local.write_text("all: {hosts: {localhost: {}}}\n")
    source = _without_encrypted(site.source, work / "own")
    command = ["ansible-inventory", "--list", "--inventory", str(source), "--inventory", str(local)]
    done = subprocess.run(command, env=dict(env), cwd=work, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RehearsalFailed(
            f"Cannot read the inventory {site.source}. ansible-inventory ended with status {done.returncode}: "
            f"{done.stderr.strip()} Correct the inventory."
        )
    found = json.loads(done.stdout)
    if site.variables is not None:
        more = read(site.variables)
        for name in found["_meta"]["hostvars"]:
            found["_meta"]["hostvars"][name] = {**more, **found["_meta"]["hostvars"][name]}
    return found


def _without_encrypted(source: Path, copy: Path) -> Path:
    """The source itself, or a copy without encrypted files: a rehearsal needs no real password."""
    folder = source if source.is_dir() else source.parent
    inside = [one for name in FOLDERS for one in (folder / name).rglob("*") if one.is_file()]
    hidden = {one for one in inside if one.read_bytes().startswith(ENCRYPTED)}
    if not hidden:
        return source
    copy.mkdir()
    for one in folder.iterdir():
        if one.is_file() and not one.read_bytes().startswith(ENCRYPTED):
            shutil.copy(one, copy)
    for one in inside:
        if one not in hidden:
            target = copy / one.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(one, target)
    return copy if source.is_dir() else copy / source.name


def members(listed: Mapping[str, Any], group: str) -> list[str]:
    """The hosts of a group and its children, in the order of the inventory."""
    entry = listed.get(group) or {}
    found = [*entry.get("hosts", ()), *(name for one in entry.get("children", ()) for name in members(listed, one))]
    return list(dict.fromkeys(found))


def names_missing(listed: Mapping[str, Any], seed: Mapping[str, Any]) -> list[str]:
    """The hosts of the site that a seed lacks."""
    there = {host["name"] for host in hosts_of(seed)}
    return [name for name in members(listed, "esxi_hosts") if name not in there]


def hosts_of(seed: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    for center in seed["datacenters"]:
        yield from center.get("hosts", ())
        for cluster in center["clusters"]:
            yield from cluster["hosts"]


def site_of(listed: Mapping[str, Any]) -> Any:
    """The variable site: a mapping, or a template."""
    return next((_plain(one["site"]) for one in listed["_meta"]["hostvars"].values() if "site" in one), None)


def mapped(listed: Mapping[str, Any], endpoint: Mapping[str, Any], guests_in: str = "") -> Mapped:
    """The inventory of the site with connections to the twin, without unknown switches.

    guests_in: the folder of results of guests. Without it, the stages inside of guests are left out.
    """
    variables = {name: _plain(one) for name, one in listed["_meta"]["hostvars"].items()}
    hosts, switches = members(listed, "esxi_hosts"), members(listed, "switches")
    if not hosts and not switches:
        raise RehearsalFailed(
            "Cannot rehearse this site. Its inventory has no host in the groups esxi_hosts and switches. "
            "Set SITE to the inventory of the site, see docs/site.md."
        )
    ends = {name: _end(name, endpoint.get("switches", {})) for name in switches}
    lost = [name for name, end in ends.items() if end is None]
    gone = {*lost, *members(listed, "training_guests")}
    found = Mapped({}, hosts, [name for name in switches if name not in lost], lost)
    rows = endpoint.get("assumptions", ())
    found.why_lost = _why_lost(lost, rows)
    found.lost_bmcs = _lost_bmcs(hosts, rows)
    found.no_switches = any(row["object"] == "fabric" for row in rows)
    inner: dict[str, Variables] = {}
    for name in dict.fromkeys(["localhost", *variables]):
        if name in gone:
            continue
        mine = inner[name] = _own(variables.get(name, {}), endpoint, lost, found, guests_in)
        if name in hosts:
            mine.update(_host(mine, name, endpoint))
        elif ends.get(name) is not None:
            _switch(mine, ends[name] or {}, endpoint)
    inner["localhost"].update(ansible_connection="local", ansible_python_interpreter="{{ ansible_playbook_python }}")
    groups = {
        name: _group(listed, name, gone)
        for name in (listed.get("all") or {}).get("children", ())
        if name != "ungrouped"
    }
    found.inventory = {"all": {"hosts": inner, "children": groups}}
    if guests_in:
        # The stage guests adds the guests, with the addresses that vCenter reports.
        shared = {key: one for key, one in inner["localhost"].items() if not key.startswith("ansible_")}
        found.inventory["all"]["vars"] = shared
        groups.setdefault("training_guests", {"hosts": {}, "children": {}})["vars"] = own_guests.connection()
    return found


def _group(listed: Mapping[str, Any], name: str, gone: Iterable[str]) -> dict[str, Any]:
    entry = listed.get(name) or {}
    return {
        "hosts": {host: {} for host in entry.get("hosts", ()) if host not in gone},
        "children": {child: _group(listed, child, gone) for child in entry.get("children", ())},
    }


def _plain(value: Any) -> Any:
    """Variables without the marks of ansible-inventory: encrypted texts are empty."""
    if isinstance(value, dict):
        if "__ansible_vault" in value:
            return ""
        if "__ansible_unsafe" in value:
            return value["__ansible_unsafe"]
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _own(
    variables: Variables, endpoint: Mapping[str, Any], lost: Iterable[str], found: Mapped, guests_in: str
) -> Variables:
    """The variables of one host with the vCenter and the passwords of the twin."""
    kept = {key: value for key, value in variables.items() if key not in SECRETS}
    if "site" not in kept:
        raise RehearsalFailed(
            "Cannot rehearse this site. The inventory has no variable site. "
            "Set SITE to the folder or file that has it, see docs/site.md."
        )
    bmc = {"username": endpoint.get("bmc_username", ""), "ca_file": endpoint["ca_file"]}
    vcenter = {key: endpoint[key] for key in ("port", "username", "ca_file")}
    vcenter["hostname"] = endpoint["host"]
    site = kept["site"]
    if isinstance(site, dict):
        kept["site"] = _of_twin(site, vcenter, bmc, set(lost))
        if guests_in:
            inside, assumed = own_guests.overlaid(site)
            found.assumptions = found.assumptions or assumed
            kept["site"].update(inside)
            kept.update(own_guests.variables(endpoint, guests_in))
        else:
            found.left_out = found.left_out or own_guests.stages_of(site)
    else:
        kept["rehearsed_site"] = site
        kept["rehearsed_overlay"] = {"vcenter": vcenter, **{key: {} for key in INSIDE}}
        kept["site"] = "{{ rehearsed_site | combine(rehearsed_overlay) }}"
        found.left_out = [*INSIDE]
    single = kept.get("site_host")
    if isinstance(single, dict) and isinstance(single.get("hosts"), dict) and "bmc" in single["hosts"]:
        kept["site_host"] = {**single, "hosts": {**single["hosts"], "bmc": bmc}}
    kept["site_vcenter_password"] = endpoint["password"]
    kept["site_bmc_password"] = endpoint.get("bmc_password", "")
    kept["site_switch_password"] = endpoint.get("switch_password", "")
    return kept


def _of_twin(site: Variables, vcenter: Variables, bmc: Variables, lost: set[str]) -> Variables:
    made = {key: value for key, value in site.items() if key not in INSIDE}
    made["vcenter"] = vcenter
    if isinstance(made.get("hosts", {}), dict):
        made["hosts"] = {**made.get("hosts", {}), "bmc": bmc}
    fabric = made.get("fabric")
    if isinstance(fabric, dict) and isinstance(fabric.get("cables"), list):
        cables = [one for one in fabric["cables"] if not lost.intersection((one.get("switch"), one.get("peer")))]
        made["fabric"] = {**fabric, "cables": cables}
    return made


def _ssh(endpoint: Mapping[str, Any]) -> Variables:
    known = endpoint.get("known_hosts_file", "/dev/null")
    return {
        "ansible_ssh_private_key_file": endpoint.get("ssh_key_file", ""),
        "ansible_ssh_common_args": f"-o UserKnownHostsFile={known} -o IdentitiesOnly=yes",
    }


def _host(mine: Variables, name: str, endpoint: Mapping[str, Any]) -> Variables:
    """The shell and the BMC of a host; a host without BMC in the site gets none."""
    row = endpoint["hosts"].get(name, {})
    for key in [key for key in mine if key.startswith("ansible_")]:
        del mine[key]
    made = {
        "ansible_connection": "ssh",
        "ansible_host": row.get("ssh_host", endpoint["host"]),
        "ansible_port": row.get("ssh_port", 22),
        "ansible_user": "root",
        **_ssh(endpoint),
    }
    if mine.get("bmc_address"):
        made["bmc_address"] = row.get("bmc_url", "")
    return made


def _switch(mine: Variables, row: Mapping[str, Any], endpoint: Mapping[str, Any]) -> None:
    """The command line of a switch. Its platform stays as the site has it."""
    for key in [key for key in mine if key.startswith("ansible_") and key not in PLATFORM]:
        del mine[key]
    mine.update(ansible_host=row["ssh_host"], ansible_port=row["ssh_port"], ansible_user=row["username"])
    if mine.get("ansible_connection", "").endswith("network_cli"):
        # The twin has new host keys at each start, and libssh reads the user's own known_hosts only.
        mine.update(ansible_password=endpoint["switch_password"], ansible_host_key_checking=False)
    else:
        mine.update(ansible_become_password=endpoint["switch_password"], **_ssh(endpoint))


def _end(name: str, switches: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The switch of the twin with this name, which the switch itself may have without its domain."""
    exact = [row for one, row in switches.items() if one.lower() == name.lower()]
    short = [row for one, row in switches.items() if _short(one) == _short(name)]
    return exact[0] if exact else short[0] if len(short) == 1 else None


def _short(name: str) -> str:
    return name.lower().partition(".")[0]


def _why_lost(names: Iterable[str], assumptions: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Why the twin does not have switches that the capture has, such as a platform that it does not know."""
    reasons = {
        _short(row["object"].removeprefix("switch ")): row["reason"]
        for row in assumptions
        if row["object"].startswith("switch ") and row["fact"] == "presence"
    }
    return {name: reasons[_short(name)] for name in names if _short(name) in reasons}


def _lost_bmcs(hosts: list[str], assumptions: Iterable[Mapping[str, Any]]) -> list[str]:
    """The hosts whose BIOS settings are assumed as a whole."""
    assumed = {row["object"].partition(" ")[2] for row in assumptions if row["fact"] == "BIOS settings"}
    return [name for name in hosts if name in assumed]
