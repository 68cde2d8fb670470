"""Guests of a capture, compared with the site by the checks that validate a live one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible.errors import AnsibleFilterError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import source
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import version as versions
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import check_guest, expected, suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import FAIL, About
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import topology
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.guests import guests as site_guests
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.training import GUEST
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site.validation import validation

from vsphere_twin.capture.guests import SMI_LABEL

# Adapters of vCenter by the data path that they carry; all others are plain ones.
KINDS = {"VirtualVmxnet3Vrdma": "pvrdma", "VirtualSriovEthernetCard": "sriov"}
CHECKS = {
    "guest.mtu": "MTU",
    "guest.driver": "driver and GPUs",
    "guest.licence": "licence",
    "guest.topology": "topology",
    "guest.gpudirect": "GPUDirect",
    "guest.modules": "kernel modules",
}
# Values of one moment, of a login, and of the files of the kernel, which no command of a capture shows.
NEVER = "clock, IP address, memlock limit, RDMA device, GID, logs and counters"
DOWNGRADE = (
    "The stage guests installs no older driver. Set site.guests.driver.downgrade to allow, or request a newer one."
)
Seed = Mapping[str, Any]
Guests = Mapping[str, Mapping[str, Any]]


@dataclass
class Compared:
    """Differences between the captured guests and the site."""

    changes: list[str] = field(default_factory=list)
    # What the validation of the live site would report, and the run does not change.
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    assumptions: list[dict[str, Any]] = field(default_factory=list)


def compared(site: Any, seed: Seed, guests: Guests) -> Compared:
    """guests has what each captured guest shows, by the identifier of its VM. VMs that the run creates have none."""
    found = Compared()
    # By path: VMs in different folders may have the same name.
    captured = {path: guests[moid] for path, vm, _known in _vms(seed) for moid in vm["moids"] if moid in guests}
    try:
        facts = _facts(site, seed)
        own = [{"inventory_hostname": name, GUEST: guest} for name, guest in facts.items()]
        intent = expected.intent_of(validation(site, own)["intent"]) if own else {}
        if own and not intent["driver"]:
            intent["driver"] = _packaged(own[0][GUEST]["driver"])
    except AnsibleFilterError as problem:
        for path in captured:
            why = f"the site is not a mapping of plain values: {problem}"
            _assume(found, path.rpartition("/")[2], ", ".join(CHECKS.values()), why)
        return found
    for name, guest in facts.items():
        if guest["vm"] in captured:
            _compare(site, name, guest, captured[guest["vm"]], intent, found)
        else:
            _assume(found, name, ", ".join(_due(intent).values()), "the capture has no outputs of this guest")
    return found


def _facts(site: Any, seed: Seed) -> dict[str, Any]:
    """The guests of the site that exist, as the stages inside of guests know them; none without these stages."""
    if not isinstance(site, dict):
        raise AnsibleFilterError("it is a template.")
    made = site_guests(site, {"vms": [_seen(*one) for one in _vms(seed)]})
    return made["guests"] if made["stages"] else {}


def _due(intent: Mapping[str, Any]) -> dict[str, str]:
    """The checks that apply to the site."""
    specs = {check: suite.of(check) for check in CHECKS}
    return {check: CHECKS[check] for check, spec in specs.items() if spec and not suite.left_out(spec, intent)}


def _packaged(driver: Mapping[str, Any]) -> str | None:
    """The version in the name of the package that the stage guests installs."""
    return source.of(driver["package"], driver.get("source", "auto")).version if driver.get("package") else None


def _compare(
    site: Mapping[str, Any],
    name: str,
    guest: Mapping[str, Any],
    shown: Mapping[str, Any],
    intent: Mapping[str, Any],
    found: Compared,
) -> None:
    unknown = []
    # The stage machines adds GPUs that the VM does not have yet, and with them NVLink.
    if 0 < guest["gpus"] < intent["gpus_per_guest"]:
        intent = {**intent, "gpus_per_guest": guest["gpus"], "nvlink": False}
    for check, fact in _due(intent).items():
        values = _values(check, guest, shown)
        answer = check_guest.LOOKS[check](values, About(check, {"guest": name}, "before", intent, {}))
        if check == "guest.driver" and SMI_LABEL in shown["without"]:
            answer.fail("The program nvidia-smi is missing.", f"the driver of {name}", "missing")
        if answer.measured is None and not (answer.remarks or answer.skip or answer.free):
            unknown.append(fact)
        for remark in answer.reported:
            if remark.code == "driver" and _is_downgrade(site.get("guests"), shown["driver"], intent["driver"]):
                found.problems.append(f"{name}: {remark.why} {DOWNGRADE}")
                continue
            _report(site, f"{name}: {remark.why}", remark.code, remark.verdict == FAIL, found)
    if guest["host_driver"] and shown.get("driver") and not (site.get("guests") or {}).get("driver"):
        verdict = matrix.guest_allowed(guest["host_driver"], shown["driver"])
        if not verdict.allowed:
            fits = f"The guest driver {shown['driver']} does not fit its host {guest['host']}."
            found.warnings.append(f"{name}: {fits} {verdict.reason}")
    if unknown:
        _assume(found, name, ", ".join(unknown), "the capture has no outputs that show them")
    _assume(found, name, NEVER, "a capture does not have them")


def _report(site: Mapping[str, Any], text: str, code: str, failed: bool, found: Compared) -> None:
    if _changed_by_stage(site.get("guests"), code):
        found.changes.append(f"{text} The stage guests changes it.")
    elif failed and site.get("validation"):
        found.problems.append(f"{text} This is the state of the guest in the capture.")
    else:
        found.warnings.append(text)


def _is_downgrade(section: Any, found: str, requested: str) -> bool:
    """Whether the stage guests rejects a driver that is older than the one of the guest."""
    driver = section.get("driver") if isinstance(section, dict) else None
    have, asked = versions.parse(found), versions.parse(requested)
    return bool(driver and driver.get("downgrade") != "allow" and have and asked and asked < have)


def _changed_by_stage(section: Any, code: str) -> bool:
    """Whether the stage guests of the site changes what a check found."""
    if not isinstance(section, dict):
        return False
    rdma = (section.get("rdma") or {}).get("stack") != "ignore"
    return {
        "mtu_local": section.get("mtu") != 0,
        "driver": bool(section.get("driver")),
        "missing": bool(section.get("driver")),
        "unlicensed": bool(section.get("licence")),
        "modules": rdma,
        "gpudirect": rdma,
    }.get(code, False)


def _values(check: str, guest: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """The readings of a check; empty if the capture does not have them."""
    if check == "guest.mtu":
        mac = guest["data_interface"]["mac"].lower()
        link = next((one for one in shown.get("links", ()) if mac and one["mac"] == mac), None)
        return {"interface": link["name"], "mtu": link["mtu"]} if link else {}
    if check in ("guest.driver", "guest.licence"):
        return {key: shown[key] for key in ("driver", "gpus", "missing") if key in shown}
    if check == "guest.topology":
        values = topology.parse(shown.get("nvidia-smi topo -m", ""))
        links = topology.links(shown.get("nvidia-smi nvlink --status"))
        return {} if values["why"] else {**values, **({"links": links} if links else {})}
    modules = shown.get("modules", ())
    if check == "guest.modules":
        return {"modules": modules} if modules else {}
    version, kernel = shown.get("cat /proc/driver/nvidia/version"), re.match(r"(\d+)\.(\d+)", shown.get("kernel", ""))
    if not version or not kernel or not modules:
        return {}
    peermem = next((one for one in ("nvidia_peermem", "nv_peer_mem") if one in modules), None)
    dmabuf = (int(kernel[1]), int(kernel[2])) >= (5, 12)
    opened = "open kernel module" in version.lower()
    return {"gpudirect": {"peermem": peermem, "open_module": opened, "kernel_dmabuf": dmabuf}}


def _vms(seed: Seed) -> Iterable[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The path of each VM that a capture describes, its entry, and what it is connected to."""
    for center in seed["datacenters"]:
        groups = [*center["networks"], *(one for switch in center["switches"] for one in switch["portgroups"])]
        known = {
            "networks": {moid: group["name"] for group in groups for moid in group["moids"]},
            "hosts": {
                host["name"]: host
                for host in [*center.get("hosts", ()), *(one for row in center["clusters"] for one in row["hosts"])]
            },
        }
        for vm in center["vms"]:
            folder = f"{vm['folder']}/" if vm.get("folder") else ""
            yield f"/{center['name']}/vm/{folder}{vm['name']}", vm, known


def _seen(path: str, vm: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """A VM as vm_guest_info returns it. The address has no meaning here, and must not be missing."""
    devices = [(row["type"], row["fields"]) for row in vm.get("devices", ())]
    driver = known["hosts"].get(vm["host"], {}).get("driver") or {}
    return {
        "path": path,
        "name": vm["name"],
        "address": "captured",
        "why_no_address": "",
        "adapters": [
            {
                "kind": KINDS.get(kind, "plain"),
                "network": _network(fields, known["networks"]),
                "mac": fields["macAddress"],
                "label": "",
                "addresses": [],
            }
            for kind, fields in devices
            if fields.get("macAddress")
        ],
        "host": {"name": vm["host"], "driver": driver},
        "gpus": sum(kind == "VirtualPCIPassthrough" and "vgpu" in _backing(fields) for kind, fields in devices),
    }


def _backing(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    return (fields.get("backing") or {}).get("fields") or {}


def _network(fields: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """The name of the port group of an adapter."""
    backing = _backing(fields)
    port = (backing.get("port") or {}).get("fields") or {}
    return names.get(port.get("portgroupKey", ""), backing.get("deviceName", ""))


def _assume(found: Compared, name: str, fact: str, reason: str) -> None:
    row = {"object": f"guest {name}", "fact": fact, "value": "as the site requests", "reason": reason}
    found.assumptions.append(row)
