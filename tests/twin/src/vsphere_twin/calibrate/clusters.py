"""Clusters: rules of DRS, moves, images."""

from __future__ import annotations

from .gpus import vgpus_of
from .registry import rule
from .verdict import confirms, either, lacks, refutes

MIGRATIONS = ("VmMigratedEvent", "DrsVmMigratedEvent")
HOTMIGRATE = "vgpu.hotmigrate.enabled"
# What an apply would do to a host. UNKNOWN is no evidence.
IMPACTS = ("NO_IMPACT", "PARTIAL_MAINTENANCE_MODE_REQUIRED", "MAINTENANCE_MODE_REQUIRED", "REBOOT_REQUIRED")


@rule("drs-rule-keys")
def rule_keys(evidence):
    for cluster in evidence.clusters:
        found = cluster.all("configurationEx.rule")
        numbers = sorted(one.number("key") or 0 for one in found)
        if len(set(numbers)) != len(numbers):
            yield refutes(cluster.name, f"keys of rules: {numbers}")
        for one in found:
            if one.kind in ("ClusterAffinityRuleSpec", "ClusterAntiAffinityRuleSpec") and len(one.all("vm")) < 1:
                yield refutes(cluster.name, f"rule {one.number('key')} has no VM")
        if numbers and len(set(numbers)) == len(numbers) and numbers[-1] - numbers[0] >= len(numbers):
            yield confirms(cluster.name, f"keys of removed rules are free: {numbers}")


@rule("vgpu-hotmigrate")
def hotmigrate(evidence):
    vms = {vm.moid: vm for vm in evidence.vms if vgpus_of(vm)}
    for event in evidence.events:
        vm = vms.get(event.text("vm.vm"))
        if event.kind not in MIGRATIONS or vm is None:
            continue
        booted, moved = vm.text("runtime.bootTime"), event.text("createdTime")
        if not booted or not moved or booted > moved or vm.text("runtime.powerState") != "poweredOn":
            continue
        allowed = _option(evidence, HOTMIGRATE)
        if allowed is None:
            yield lacks(f"advanced setting {HOTMIGRATE} of vCenter")
        else:
            yield either(allowed == "true", vm.name, f"moved while it ran, {HOTMIGRATE} is {allowed}")


def _option(evidence, key):
    for manager in evidence.objects("OptionManager"):
        for one in manager.all("setting"):
            if one.text("key") == key:
                return (one.text("value") or "").lower()
    return None


@rule("apply-reboots")
def impact(evidence):
    for data in evidence.rest("/software/compliance").values():
        for moid, one in (data.get("hosts") or {}).items():
            found = one.get("impact") if isinstance(one, dict) else None
            if found in IMPACTS and one.get("status") == "NON_COMPLIANT":
                host = evidence.find("HostSystem", moid)
                name = host.name if host is not None else moid
                yield either(found == "REBOOT_REQUIRED", name, f"status NON_COMPLIANT, impact {found}")


@rule("failed-apply-is-a-success")
def apply_result(evidence):
    for path, data in evidence.rest("/reports/last-apply-result").items():
        if str(data.get("status")) != "ERROR":
            continue
        tasks = [
            event.text("info.state")
            for event in evidence.events
            if event.kind == "TaskEvent"
            and "settings.clusters.software.apply" in (event.text("info.descriptionId") or "")
        ]
        if not tasks:
            yield lacks("the event of the task of the last failed apply")
        for state in tasks:
            yield either(state == "success", path, f"result ERROR, task {state}")


@rule("esxcli-drifts-from-image")
def drift(evidence):
    for path, data in evidence.rest("/software/compliance").items():
        image = evidence.rest(path.rpartition("/")[0].rpartition("/software")[0] + "/software")
        known = {name for one in image.values() for name in (one.get("components") or {})}
        for moid, one in (data.get("hosts") or {}).items():
            host = evidence.find("HostSystem", moid)
            vibs = evidence.outputs("hosts", host.name).rows("software component list") if host is not None else None
            if vibs is None:
                yield lacks("software component list of a host of a cluster with an image")
                continue
            added = sorted(str(row.get("name")) for row in vibs if str(row.get("vendor", "")).upper() == "NVIDIA")
            added = [name for name in added if name not in known]
            if added:
                values = f"{', '.join(added)} is not in the image, status {one.get('status')}"
                yield either(one.get("status") in ("NON_COMPLIANT", "INCOMPATIBLE"), host.name, values)
