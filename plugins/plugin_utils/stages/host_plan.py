# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The plan of the role esxi_host for one host: what is due, what is undecided and why, and what a run refuses. Pure."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages import host_gaps
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_blockers import blockers
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_gaps import RULESET, Answer
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import is_loaded, request_of
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_restart import Restart, restart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.host_request import Request

# The steps that change the host, each with the key of its module's result, in the order of the role.
STEPS = {
    "profile": "cluster",
    "bios": "bios",
    "driver": "host",
    "kernel": "host",
    "modules": "host",
    "passthrough": "host",
    "pvrdma": "host",
    "mtu": "host",
    "graphics": "host",
    "mig": "gpus",
    "firmware": "devices",
}
# Those whose settings may wait for a restart.
WAITING = ("bios", "driver", "kernel", "modules", "passthrough", "graphics", "mig", "firmware")
MIG, FIRMWARE = "MIG", "the firmware of the network adapters"
# What a restart and maintenance mode would change, for the plan of a run.
# Steps whose settings the configuration profile of a cluster may revert.
OF_PROFILE = ("kernel", "modules", "pvrdma")
# Others that it may revert, of which cluster_configuration knows no place in the document; the first release with one.
BESIDE_PROFILE, PROFILES_SINCE = ("graphics", "passthrough", "mtu"), (8, 0, 1)
# In place of whether a profile manages a cluster, for a user who may not read it.
UNREAD = "unread"
OF_RESTART = ("running", "borrowed", "in_maintenance", "reason", "boot_time")


@dataclass(frozen=True)
class Mode:
    """dry: nothing is done. only_looks: nothing is done and started either, whether or not this is check mode.

    compares: only the settings count, and not how a run would change them.
    """

    check_mode: bool = False
    only_looks: bool = False
    compares: bool = False

    @property
    def dry(self) -> bool:
        return self.check_mode or self.only_looks


@dataclass(frozen=True)
class Shell:
    """SSH of the host. unseen: a dry run that cannot check what only SSH shows."""

    needed: bool
    runs: bool
    may: bool
    unseen: bool
    # What needs it, and what may need it later in the run.
    by: list[str]
    later: list[str]


@dataclass(frozen=True)
class Profile:
    """The MoID of the cluster whose configuration profile may revert settings of the run; empty without any.

    managed: whether it has a profile. settings: those that its document must have. uncompared: settings of the run that
    are not compared with the document.
    """

    cluster: str
    managed: bool
    settings: dict[str, dict[str, Any]]
    uncompared: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Open:
    """What check mode cannot know, after what it is known, and why."""

    what: list[str]
    after: str
    why: str


@dataclass(frozen=True)
class Vms:
    """VMs of the site on the host: those that are shut down for it, and those that a run shut down before."""

    names: list[str]
    off: list[dict[str, Any]]
    on: list[dict[str, Any]]


@dataclass(frozen=True)
class Plan:
    """All of it. asks: whether the module of a step runs in check mode. due: whether it runs then. acts: any does.

    settled: the role would change nothing on the host, and leave nothing unchecked.
    """

    options: dict[str, dict[str, Any]]
    passthrough: list[dict[str, Any]]
    profile: Profile
    loaded: bool
    asks: dict[str, bool]
    due: dict[str, bool]
    acts: bool
    differs: bool
    settled: bool
    gaps: list[dict[str, str]]
    restart: Restart
    restarts_now: bool
    out: bool
    shell: Shell
    restores_shell: bool
    vms: Vms
    occupied: bool
    unfit: str
    blockers: list[dict[str, str]]
    unkept: list[dict[str, str]]
    refusals: list[str]
    story: list[str]
    open: Open
    undone: list[str]


def plan(
    answers: Mapping[str, Any],
    inputs: Mapping[str, Any],
    done: Mapping[str, Any] | None = None,
    check_mode: bool = False,
    only_looks: bool = False,
    compares: bool = False,
) -> dict[str, Any]:
    """The plan from what was read so far; a module that has not run yet has no answer.

    answers: {step: result of its module in check mode}. done: {step: result} of what was done already.
    """
    request, mode = request_of(inputs), Mode(check_mode, only_looks, compares)
    return asdict(_plan(answers, request, done or {}, mode))


def _plan(answers: Mapping[str, Any], request: Request, done: Mapping[str, Any], mode: Mode) -> Plan:
    host = (answers.get("look") or {}).get("host") or {}
    found = host_gaps.gaps(host, request) if host else []
    steps = {gap.step for gap in found}
    shown = host_gaps.reported(host_gaps.gaps(host, request, [Answer("bios", answers.get("bios"))]) if host else [])
    shell = _shell(host, request, steps, mode)
    again = bool((done.get("restart") or {}).get("changed")) and not mode.dry
    due = {step: _changes(answers.get(step), key) for step, key in STEPS.items()}
    # vCenter reports the impact of a device mode only after the change, so what was made before the restart counts too.
    made = () if again else ("passthrough", "graphics")
    one = restart([*(answers.get(step) for step in WAITING), *(done.get(step) for step in made)])
    out = not mode.compares and (one.kind != "none" or one.remediated or due["mig"])
    against = blockers(host, request, shell.later) if host else []
    undone = [step for step, is_due in due.items() if is_due] + (shell.by if shell.unseen else [])
    # A comparison does not ask how the profile of a cluster reverts settings.
    profile = Profile("", False, {}) if mode.compares else _profile(host, request, found, done)
    unkept = _unkept(host, request, profile, done)
    vms, occupied = vms_of(host, request, done, out), _code(answers.get("maintenance")) == "running_vms"
    acts = out or any(due.values())
    asks = _asks(request, steps & {"mig"} if mode.compares else steps, profile, mode)
    # The tags of a run may leave out a module here and not the verification of what it sets.
    answered = all(answers.get(step) for step in STEPS if asks[step])
    refused = [entry["text"] for entry in against] + _refusals(answers, request, one, shell, occupied)
    refused += [entry["text"] for entry in unkept]
    started = bool((done.get("shell") or {}).get("changed"))
    return Plan(
        options=request.options_on(host),
        passthrough=request.passthrough_on(host),
        profile=profile,
        loaded=is_loaded(host),
        asks=asks,
        due={**due, "again": again},
        acts=acts,
        differs=bool(found),
        settled=answered and not (acts or found or refused or undone) and _untouched(host, request),
        gaps=shown,
        restart=one,
        # A cold power cycle without a BMC is refused in a real run, and reported in a preview.
        restarts_now=one.reboot and not mode.only_looks and (one.kind == "warm" or bool(request.bmc_address)),
        out=out,
        shell=shell,
        # A restart stops what was started, and leaves the note of it.
        restores_shell=request.mig == "enabled" or request.firmware or shell.runs or started or again,
        vms=vms,
        occupied=occupied,
        unfit=_unfit(host, request),
        blockers=against,
        unkept=unkept,
        refusals=refused,
        story=_story(request, shown, one, shell, is_loaded(host)) + _kept(host, answers, profile, done),
        open=_open(host, request, shell, undone),
        undone=undone,
    )


def _untouched(host: Mapping[str, Any], request: Request) -> bool:
    """Whether no run has left the host in maintenance mode, with a started service or without a VM of the site."""
    return bool(host) and not (host.get("in_maintenance") or host.get("unrestored") or request.shuts_vms)


def _shell(host: Mapping[str, Any], request: Request, steps: set[str], mode: Mode) -> Shell:
    runs = bool(((host.get("services") or {}).get("TSM-SSH") or {}).get("running"))
    firmware = [FIRMWARE] if request.firmware else []
    by = ([MIG] if "mig" in steps else []) + firmware
    # GPUs report MIG only to the driver, which may come with the run.
    comes = request.mig == "enabled" and not is_loaded(host)
    # SSH is started for a real run only, so that check mode sees no further than the host allows.
    may = bool(by) and (runs or (request.ssh == "start" and not mode.dry))
    return Shell(
        needed=bool(by),
        runs=runs,
        may=may,
        unseen=bool(by) and not may and mode.dry,
        by=by,
        later=([MIG] if "mig" in steps or comes else []) + firmware,
    )


def _profile(
    host: Mapping[str, Any], request: Request, found: Sequence[host_gaps.Gap], done: Mapping[str, Any]
) -> Profile:
    cluster = host.get("cluster_moid") or ""
    compares = any(gap.step in OF_PROFILE for gap in found)
    may_have_one = release.numbers(host.get("version")) >= PROFILES_SINCE
    beside = [gap.path for gap in found if may_have_one and (gap.step in BESIDE_PROFILE or gap.path == RULESET)]
    if not cluster or not (compares or beside):
        return Profile("", False, {})
    managed = (done.get("managed") or {}).get(cluster) is True
    settings = request.profile_settings_on(host) if compares else {}
    return Profile(cluster, managed, settings, beside if managed else [])


def _asks(request: Request, steps: set[str], profile: Profile, mode: Mode) -> dict[str, bool]:
    """Modules run in check mode for what differs, and always for what the read of the host does not show.

    A comparison needs the second kind only, and MIG, whose instances the read does not show.
    """
    return {
        **{step: step in steps for step in ("kernel", "modules", "pvrdma", "mtu", "graphics")},
        "profile": profile.managed and bool(profile.settings),
        "bios": request.bios,
        "driver": bool(request.driver),
        "passthrough": "passthrough" in steps or request.nic_passthrough or bool(request.directpath_label),
        "mig": "mig" in steps,
        "firmware": request.firmware,
        "vms": request.shuts_vms and not mode.compares,
    }


def _changes(answer: Mapping[str, Any] | None, key: str) -> bool:
    """Whether a module would change something; a loop has one answer for each of its items."""
    items = [one.get(key) for one in (answer or {}).get("results") or [answer or {}]]
    flat = [entry for item in items for entry in (item if isinstance(item, list) else [item])]
    return any(bool((entry or {}).get("changed")) for entry in flat)


def _code(answer: Mapping[str, Any] | None) -> str:
    return ((answer or {}).get("failure") or {}).get("code") or ""


def vms_of(host: Mapping[str, Any], request: Request, done: Mapping[str, Any], out: bool) -> Vms:
    """The VMs of the site on the host, from answers of vm_power in check mode: done has vms and left_off."""
    name = host.get("name") or request.name
    running = [vm for vm in _vms_on(name, done.get("vms")) if vm["before"]["power"] == "on"]
    shut = running if request.evacuation == "shutdown" and out else []
    # Those that a run has left off, by the note in each.
    noted = [
        vm
        for vm in _vms_on(name, done.get("left_off"))
        if vm["before"]["power"] == "off" and vm["before"].get("power_on_again")
    ]
    return Vms([vm["name"] for vm in shut], *([{"moid": vm["moid"]} for vm in vms] for vms in (shut, noted)))


def _vms_on(name: str, answer: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The VMs of vm_power's answer that are on the host; a VM that does not exist yet has no power."""
    vms = (answer or {}).get("vms") or []
    return [vm for vm in vms if vm.get("host") == name and "power" in (vm.get("before") or {})]


def _unfit(host: Mapping[str, Any], request: Request) -> str:
    """Why the host cannot be configured; empty if it can."""
    connection, cluster = host.get("connection"), host.get("cluster")
    if connection == "connected" and request.cluster in ("", cluster):
        return ""
    fix = (
        "Check its power and its management network, or remove it from the group esxi_hosts."
        if connection != "connected"
        else "Correct site.cluster, or remove the host from the group esxi_hosts."
    )
    asked = f", not in {request.cluster}" if request.cluster not in ("", cluster) else ""
    where = f"the cluster {cluster}" if cluster else "no cluster"
    return f"{request.name} cannot be configured. It is {connection}, in {where}{asked}. {fix}"


def _refusals(answers: Mapping[str, Any], request: Request, one: Restart, shell: Shell, occupied: bool) -> list[str]:
    """Reasons that prevent the run, as sentences."""
    found = refusals(answers, request, one, occupied)
    if shell.needed and not shell.runs and request.ssh != "start":
        found.append(
            f"{request.name} needs SSH for MIG or the firmware of its network adapters, and SSH does not run. "
            "Start it, or set site.hosts.ssh (or esxi_host_ssh) to start."
        )
    return found


def refusals(answers: Mapping[str, Any], request: Request, one: Restart, occupied: bool) -> list[str]:
    """Reasons that prevent a restart of the host and what comes before it, as sentences."""
    name, found = request.name, []
    if one.why and request.reboot != "allow":
        found.append(
            f"{name} needs a restart, because of {one.why}, and that is not allowed. "
            "Nothing was changed. Set site.hosts.reboot (or esxi_host_reboot) to allow."
        )
    shutdown = answers.get("shutdown") or {}
    if shutdown.get("failed"):
        found.append(shutdown["msg"])
    if occupied:
        found.append(answers["maintenance"]["msg"])
    if _code(answers.get("profile")) == "settings_reverted":
        found.append(answers["profile"]["msg"])
    if one.kind == "cold" and not (request.cold_cycle == "allow" and request.bmc_address):
        found.append(
            f"{name} needs a cold power cycle, because of {', '.join(one.cold_reasons)}. Nothing was changed. "
            "Set site.hosts.cold_cycle (or esxi_host_cold_cycle) to allow and give the host its bmc_address."
        )
    return found


def _story(request: Request, found: Sequence[Mapping[str, str]], one: Restart, shell: Shell, loaded: bool) -> list[str]:
    """The differences and the restart that they need; empty without differences."""
    if not (found or one.why or shell.unseen):
        return []
    if one.reboot:
        kind = {"warm": "restart", "cold": "cold power cycle"}[one.kind]
        count = f"A {kind} is needed, because of {one.why}."
    elif one.remediated:
        count = f"vCenter restarts it, because of {one.why}."
    else:
        count = f"No restart is needed{' for the settings that were checked' if shell.unseen else ''}."
    story = [f"{request.name}: {count}", *(gap["text"] for gap in found)]
    if request.mig == "enabled" and not loaded:
        story.append(
            "The MIG mode can be set only while the driver runs. GPUs of the Ampere generation need a second restart "
            "for it."
        )
    if shell.unseen:
        story.append(
            f"SSH does not run on the host, and check mode does not start it, so {' and '.join(shell.by)} could not "
            "be checked. MIG on GPUs of the Ampere generation needs a restart, and changed firmware needs a cold power "
            "cycle."
        )
    return story


def _kept(host: Mapping[str, Any], answers: Mapping[str, Any], profile: Profile, done: Mapping[str, Any]) -> list[str]:
    """Settings of the run that the next remediation of the cluster reverts, or may revert."""
    name = host.get("cluster")
    if (done.get("managed") or {}).get(profile.cluster) == UNREAD:
        return [
            f"It is not known whether a configuration profile manages the cluster {name}, because the user lacks "
            "VcIntegrity.ClusterConfiguration.View. The next remediation of such a cluster may revert host settings."
        ]
    lost = ((answers.get("profile") or {}).get("cluster") or {}).get("reverted") or []
    text = f"A configuration profile manages the cluster {name}."
    reported = [f"{text} Its next remediation reverts these host settings: {', '.join(lost)}."] if lost else []
    if profile.uncompared:
        reported.append(
            f"{text} Its next remediation may revert these host settings, which are not compared with its document: "
            f"{', '.join(profile.uncompared)}."
        )
    return reported


def _unkept(
    host: Mapping[str, Any], request: Request, profile: Profile, done: Mapping[str, Any]
) -> list[dict[str, str]]:
    """[{what, found, todo, text}]: settings that a remediation may revert, for a site that does not accept them."""
    unread = (done.get("managed") or {}).get(profile.cluster) == UNREAD
    if request.uncompared_settings != "refuse" or not (profile.uncompared or unread):
        return []
    name = host.get("cluster")
    cause = (
        f"It is not known whether a configuration profile manages the cluster {name}, because the user lacks "
        "VcIntegrity.ClusterConfiguration.View."
        if unread
        else f"A configuration profile manages the cluster {name}, and these settings are not compared with its "
        f"document: {', '.join(profile.uncompared)}."
    )
    fix = "grant the user this privilege" if unread else "remove the profile from the cluster"
    found = f"The next remediation may revert host settings of {request.name}. {cause}"
    todo = f"Set site.hosts.uncompared_settings (or esxi_host_uncompared_settings) to report, or {fix}."
    return [
        {
            "what": "configuration profile of the cluster",
            "found": found,
            "todo": todo,
            "text": f"{found} Nothing was changed. {todo}",
        }
    ]


def _open(host: Mapping[str, Any], request: Request, shell: Shell, undone: Sequence[str]) -> Open:
    """GPUs report their settings only to their driver, and firmware is read only over SSH."""
    comes = bool(request.driver) and not is_loaded(host)
    what = ["graphics"] if comes and request.graphics_type != "ignore" else []
    if request.mig != "ignore" and (comes or MIG in undone):
        what += ["mode", "layout"]
    if request.firmware and shell.unseen:
        what += list(request.nic_firmware)
    if shell.unseen or (comes and request.mig == "enabled"):
        what += OF_RESTART
    if comes:
        return Open(what, "the driver runs", "GPUs report their settings only then")
    return Open(what, "SSH runs", f"{' and '.join(shell.by)} can be checked only then")
