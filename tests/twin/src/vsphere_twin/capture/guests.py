"""Captured guests by the VM that they run in: what their outputs show of system, driver, GPUs and adapters."""

from __future__ import annotations

import contextlib
import json
import re

from .assumptions import STRANGE

SMI = "nvidia-smi -q -x"
# Of the same command in the coverage.
SMI_LABEL = "nvidia-smi-q-x"
# Outputs that readers of the result parse themselves.
TEXTS = ("nvidia-smi topo -m", "nvidia-smi nvlink --status", "cat /proc/driver/nvidia/version")
_LISTING = re.compile(r"guests/([^/]+)/shell/commands\.json")
_LABEL = re.compile(r"guest (?P<guest>[^/]+)/\d+-(?P<command>.+)")


def of(bundle):
    """What each captured guest shows, by the identifier of its VM. A guest without a captured VM is left out.

    None and absent keys are unknown: the guest did not answer the command.
    """
    found = {}
    for listing in filter(None, map(_LISTING.fullmatch, sorted(bundle.files))):
        name = listing[1]
        texts = {
            str(row["command"]): bundle.files.get(f"guests/{name}/shell/{row['file']}", "")
            for row in bundle.listing(listing[0])["commands"]
        }
        guest = {**_read(texts), "without": _without(bundle, name)}
        vm = _vm(bundle, name, {link["mac"] for link in guest.get("links", ())})
        if vm is not None:
            found.setdefault(vm.moid, guest)
    return found


def assume(bundle, assumptions):
    """Name the guests that were captured: the twin does not have their system, driver and adapters."""
    for moid, guest in of(bundle).items():
        shown = [guest.get("system"), f"kernel {guest['kernel']}" if guest.get("kernel") else None]
        shown += [f"driver {guest['driver']}" if guest.get("driver") else None]
        reason = f"captured with {', '.join(filter(None, shown)) or 'unknown outputs'}, which the twin does not load"
        assumptions.assume(f"guest {bundle.get(moid).name}", "system, driver, adapters", "those of the twin", reason)


def _read(texts):
    made = {command: texts[command] for command in TEXTS if command in texts}
    if texts.get("uname -r", "").strip():
        made["kernel"] = texts["uname -r"].strip()
    named = re.search(r'PRETTY_NAME="?([^"\n]+)', texts.get("grep PRETTY_NAME /etc/os-release", ""))
    if named:
        made["system"] = re.sub(r" \(.*\)$", "", named[1])
    if "ls /sys/module" in texts:
        made["modules"] = texts["ls /sys/module"].split()
    # Without an answer, or with one of another form, the adapters are unknown.
    with contextlib.suppress(*STRANGE):
        made["links"] = _links(texts["ip -j link"])
    return {**made, **_gpus(texts.get(SMI, ""))}


def _links(text):
    """Adapters as `ip -j link` lists them. Interfaces on top of an adapter share its address, and have a link kind."""
    rows = [row for row in json.loads(text) if row.get("address") and row.get("link_type") == "ether"]
    return [
        {"name": str(row["ifname"]), "mac": str(row["address"]).lower(), "mtu": int(row["mtu"])}
        for row in rows
        if "link" not in row and "linkinfo" not in row
    ]


def _gpus(text):
    """The driver, and the GPUs that it shows; nothing without an output of nvidia-smi."""
    driver = re.search(r"<driver_version>\s*([\d.]+)", text)
    if driver is None:
        return {}
    head, *parts = re.split(r'<gpu id="([^"]*)"', text)
    attached = re.search(r"<attached_gpus>\s*(\d+)", head)
    gpus = [
        {"address": address, "name": _field("product_name", part), "licence": _licence(part)}
        for address, part in zip(parts[::2], parts[1::2], strict=True)
    ]
    return {"driver": driver[1], "gpus": gpus, "missing": max(0, int(attached[1]) - len(gpus)) if attached else 0}


def _field(name, text):
    found = re.search(rf"<{name}>\s*([^<]*?)\s*</{name}>", text)
    return found[1] if found else None


def _licence(text):
    """The state of a licence without its end, such as Licensed; None for a GPU that needs none."""
    state = re.sub(r"\s*\(.*", "", _field("license_status", text) or "")
    return None if state in ("", "N/A") else state


def _without(bundle, name):
    """The commands whose program the guest does not have, as a capture labels them: nvidia-smi-q-x."""
    rows = bundle.manifest.get("coverage")
    asked = [(_LABEL.fullmatch(label), row) for label, row in rows.items()] if isinstance(rows, dict) else []
    return [
        label["command"]
        for label, row in asked
        if label and label["guest"] == name and isinstance(row, dict) and row.get("refused") == {"": "not_found"}
    ]


def _vm(bundle, name, macs):
    """The VM with this name, else the one that has an adapter of the guest: names stay in some captures."""
    vms = bundle.of_kind("VirtualMachine")
    named = [vm for vm in vms if vm.name == name]
    if len(named) == 1:
        return named[0]
    return next((vm for vm in vms if macs & _macs(vm)), None)


def _macs(vm):
    devices = vm.get("config.hardware.device", ())
    return {str(one.macAddress).lower() for one in devices if getattr(one, "macAddress", None)}
