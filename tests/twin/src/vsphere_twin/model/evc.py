"""EVC: the CPU features that a cluster shows to its VMs."""

from __future__ import annotations

import re

from pyVmomi import vim

from .inventory import reference

# Modes by vendor, each with more features than the one before (VMware KB 1003212), and the processors that have them by
# a part of their name. A processor without a known name supports no mode.
MODES = {
    "intel": (
        ("intel-merom", None),
        ("intel-penryn", None),
        ("intel-nehalem", None),
        ("intel-westmere", None),
        ("intel-sandybridge", r"E5-\d{4}L? 0"),
        ("intel-ivybridge", r"E5-\d{4}\w? v2"),
        ("intel-haswell", r"E5-\d{4}\w? v3"),
        ("intel-broadwell", r"E5-\d{4}\w? v4"),
        ("intel-skylake", r"(?:Platinum|Gold|Silver|Bronze) \d1\d\d"),
        ("intel-cascadelake", r"(?:Platinum|Gold|Silver|Bronze) \d2\d\d"),
        ("intel-icelake", r"(?:Platinum|Gold|Silver|Bronze) \d3\d\d"),
        ("intel-sapphirerapids", r"(?:Platinum|Gold|Silver|Bronze) \d[45]\d\d"),
    ),
    "amd": (
        ("amd-rev-e", None),
        ("amd-rev-f", None),
        ("amd-greyhound-no3dnow", None),
        ("amd-greyhound", None),
        ("amd-bulldozer", None),
        ("amd-piledriver", None),
        ("amd-steamroller", None),
        ("amd-zen", r"EPYC 7\w\w1"),
        ("amd-zen2", r"EPYC 7\w\w2"),
        ("amd-zen3", r"EPYC 7\w\w3"),
        ("amd-zen4", r"EPYC 9\w\w4"),
    ),
}
# Modes that came with a release (VMware KB 1003212).
SINCE = {"intel-sapphirerapids": (8, 0, 0), "amd-zen4": (8, 0, 2)}


def vendor_of(host):
    """The vendor of a processor, as modes name it."""
    return "intel" if "Intel" in host.hardware.cpu_model else "amd"


def supported(host):
    """The modes that a host supports, with fewest features first; none if the processor is unknown."""
    known = [(key, text) for key, text in MODES[vendor_of(host)] if _exists(host.release, key)]
    fitting = [at for at, (_key, text) in enumerate(known) if text and re.search(text, host.hardware.cpu_model)]
    return [key for key, _text in known[: fitting[-1] + 1]] if fitting else []


def of_cluster(cluster):
    """The modes that all hosts support."""
    found = [supported(host) for host in cluster.hosts.values()]
    return [key for key in found[0] if all(key in one for one in found)] if found else []


def configure(cluster, key):
    """Enable or change the mode: every host supports it, and no running VM has features that it hides."""
    check(cluster, key)
    cluster.evc.mode = key


def check(cluster, key):
    """Raise the fault for a mode that the cluster cannot have."""
    vendor, hosts = key.partition("-")[0], list(cluster.hosts.values())
    if key not in [one for rows in MODES.values() for one, _text in rows]:
        raise vim.fault.EVCModeUnsupportedByHosts(msg="The hosts do not support the mode.", evcMode=key)
    if any(host.connection != "connected" for host in hosts):
        raise vim.fault.DisconnectedHostsBlockingEVC(msg="The cluster has a disconnected host.")
    vendors = {vendor_of(host) for host in hosts}
    if len(vendors) > 1:
        raise vim.fault.HeterogenousHostsBlockingEVC(msg="The hosts of the cluster have processors of several vendors.")
    if vendors and vendor not in vendors:
        words = "The mode is for processors of another vendor."
        raise vim.fault.EVCModeIllegalByVendor(msg=words, clusterCPUVendor=vendors.pop(), modeCPUVendor=vendor)
    without = [host for host in hosts if key not in supported(host)]
    if without:
        words = "The hosts do not support the mode."
        raise vim.fault.EVCModeUnsupportedByHosts(msg=words, evcMode=key, **_named(without))
    if _hides_features(cluster, key):
        running = [host for host in hosts if any(vm.power != "poweredOff" for vm in host.vms.values())]
        if running:
            words = "The cluster has powered-on or suspended virtual machines that may use features hidden by the mode."
            raise vim.fault.ActiveVMsBlockingEVC(msg=words, evcMode=key, **_named(running))


def refuse_host(cluster, host):
    """Raise the fault for a host that joins a cluster and does not support its mode."""
    mode = cluster.evc.mode if getattr(cluster, "evc", None) is not None else None
    if mode is not None and mode not in supported(host):
        words = "The host cannot be admitted to the cluster's current Enhanced vMotion Compatibility mode."
        raise vim.fault.EVCAdmissionFailedCPUFeaturesForMode(msg=words, currentEVCModeKey=mode)


def _hides_features(cluster, key):
    """Whether a mode has fewer features than running VMs may have: those of the mode, or without one those of the host
    (vCenter Server and Host Management, Change the EVC Mode for a Cluster).
    """
    order = [one for one, _text in MODES[key.partition("-")[0]]]
    now = cluster.evc.mode
    # The highest mode hides features of a processor too [unsure].
    return now is None or order.index(key) < order.index(now)


def _named(hosts):
    return {"host": [reference(host) for host in hosts], "hostName": [host.name for host in hosts]}


def _exists(release, key):
    return release.at_least(*SINCE.get(key, (0,)))
