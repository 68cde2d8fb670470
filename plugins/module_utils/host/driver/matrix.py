# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Known releases, and supported combinations of guest and host drivers.

Versions of host and guest of one release differ, in both directions, so texts are never compared. The branch decides,
and the release if the table has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import version as versions


@dataclass(frozen=True)
class Release:
    """One release of NVIDIA vGPU software for Linux guests."""

    name: str
    host: str
    guest: str
    # True if the host version was seen on vSphere, or documented for it. Others are those of the KVM package of the
    # same release; NVIDIA normally ships ESXi packages with the same version.
    seen_on_esxi: bool = False
    # Release of NVIDIA AI Enterprise; a question mark if no document names it.
    nvaie: str = ""
    # False if the versions come from tables in the field or from file names.
    sure: bool = True


@dataclass(frozen=True)
class Branch:
    """A driver branch and the major vGPU release that it belongs to."""

    number: int
    major: int
    long_term: bool = False
    sure: bool = True
    source: str = ""


@dataclass(frozen=True)
class Verdict:
    """Verdict on a guest driver for a host driver, with the rule and its certainty."""

    allowed: bool
    rule: str
    reason: str
    sure: bool = True


BRANCHES = (
    Branch(450, 11, long_term=True, source="NVIDIA vGPU version table"),
    Branch(460, 12),
    Branch(470, 13, long_term=True, source="NVIDIA vGPU version table"),
    Branch(510, 14),
    Branch(525, 15),
    Branch(535, 16, long_term=True, source="NVIDIA vGPU version table; NVIDIA data center driver branches"),
    Branch(550, 17),
    Branch(570, 18),
    Branch(580, 19, long_term=True, source="NVIDIA vGPU version table"),
    Branch(595, 20, source="NVIDIA AI Enterprise 8.0 and 8.1"),
)

# Sources: version tables of docs.nvidia.com/vgpu (11.0 to 19.1), versions of the KVM packages of each release, a
# bulletin of NVIDIA's (13.8, 15.2, 15.3), pages of NVIDIA AI Enterprise 4, 6, 7 and 8 (16.14, 18.6, 19.0 to 20.1, of
# which those for 19.3 and 19.4 name the host alone); tables in the field for these guests and that of 16.13 [unsure].
# Seen on ESXi: names of depots (12.1, 15.1, 15.4, 16.1, 20.1), output of
# esxcli (14.1, 16.0, 16.10), a field report (14.0), frankdenneman.nl 2023-07-06 (15.2), the NVIDIA AI Enterprise user
# guide 5.0 (15.3, 17.1) and that of vGPU 17 (17.6), test data of vmware/govmomi (17.0), release notes of vGPU 19.
RELEASES = (
    Release("11.0", "450.55", "450.51.05"),
    Release("11.1", "450.80", "450.80.02"),
    Release("11.2", "450.89", "450.89"),
    Release("11.3", "450.102", "450.102.04"),
    Release("11.4", "450.124", "450.119.03"),
    Release("11.5", "450.142", "450.142.00"),
    Release("11.6", "450.156", "450.156.00"),
    Release("11.7", "450.172", "450.172.01"),
    Release("11.8", "450.191", "450.191.01"),
    Release("11.9", "450.203", "450.203.02"),
    Release("11.10/11.11", "450.216.04", "450.216.04"),
    Release("11.12", "450.236.03", "450.236.01"),
    Release("11.13", "450.248.03", "450.248.02"),
    Release("12.0/12.1", "460.32.04", "460.32.03", seen_on_esxi=True),
    Release("12.2", "460.73.02", "460.73.01"),
    Release("12.3", "460.91.03", "460.91.03"),
    Release("12.4", "460.107", "460.106.00"),
    Release("13.0", "470.63", "470.63.01", nvaie="1.x?"),
    Release("13.1", "470.82", "470.82.01", nvaie="1.x?"),
    Release("13.2", "470.103.02", "470.103.01", nvaie="1.x?"),
    Release("13.3", "470.129.04", "470.129.06", nvaie="1.x?"),
    Release("13.4", "470.141.05", "470.141.03", nvaie="1.x?"),
    Release("13.5/13.6", "470.161.02", "470.161.03", nvaie="1.x?"),
    Release("13.7", "470.182.02", "470.182.03", nvaie="1.x?"),
    Release("13.8", "470.199.03", "470.199.02", seen_on_esxi=True, nvaie="1.x?"),
    Release("13.9", "470.223.02", "470.223.02", nvaie="1.x?"),
    Release("13.10", "470.239.01", "470.239.06", nvaie="1.x?"),
    Release("13.11/13.12", "470.256.02", "470.256.02", nvaie="1.x?"),
    Release("14.0", "510.47.03", "510.47.03", seen_on_esxi=True, nvaie="2.0?"),
    Release("14.1", "510.73.06", "510.73.08", seen_on_esxi=True, nvaie="2.1?"),
    Release("14.2", "510.85.03", "510.85.02", nvaie="2.2?"),
    Release("14.3/14.4", "510.108.03", "510.108.03", nvaie="2.3?"),
    Release("15.0", "525.60.12", "525.60.13", nvaie="3.0"),
    Release("15.1", "525.85.07", "525.85.05", seen_on_esxi=True, nvaie="3.1?"),
    Release("15.2", "525.105.14", "525.105.17", seen_on_esxi=True, nvaie="3.1"),
    Release("15.3", "525.125.03", "525.125.06", seen_on_esxi=True, nvaie="3.2?"),
    Release("15.4", "525.147.01", "525.147.05", seen_on_esxi=True, nvaie="3.3?"),
    Release("16.0", "535.54.06", "535.54.03", seen_on_esxi=True, nvaie="4.0?"),
    Release("16.1", "535.104.06", "535.104.05", seen_on_esxi=True, nvaie="4.1?"),
    Release("16.2", "535.129.03", "535.129.03", nvaie="4.2?"),
    Release("16.3", "535.154.02", "535.154.05", nvaie="4.3?"),
    Release("16.4", "535.161.05", "535.161.07", nvaie="4.x?"),
    Release("16.5", "535.161.05", "535.161.08", nvaie="4.x?"),
    Release("16.6", "535.183.04", "535.183.01", nvaie="4.x?"),
    Release("16.7", "535.183.04", "535.183.06", nvaie="4.x?"),
    Release("16.8", "535.216.01", "535.216.01", nvaie="4.x?"),
    Release("16.9", "535.230.02", "535.230.02", nvaie="4.x?"),
    Release("16.10", "535.247.02", "535.247.01", seen_on_esxi=True, nvaie="4.x?"),
    Release("16.11", "535.261.04", "535.261.03", nvaie="4.x?"),
    Release("16.12", "535.274.03", "535.274.02", nvaie="4.x?"),
    Release("16.13", "535.288.01", "535.288.01", nvaie="4.x?", sure=False),
    Release("16.14", "535.309.01", "535.309.01", nvaie="4.10"),
    Release("17.0", "550.54.10", "550.54.14", seen_on_esxi=True, nvaie="5.0"),
    Release("17.1", "550.54.16", "550.54.15", seen_on_esxi=True, nvaie="5.0"),
    Release("17.2/17.3", "550.90.05", "550.90.07", nvaie="5.1?"),
    Release("17.4", "550.127.06", "550.127.05", nvaie="5.2?"),
    Release("17.5", "550.144.02", "550.144.03", nvaie="5.3?"),
    Release("17.6", "550.163.02", "550.163.01", seen_on_esxi=True, nvaie="5.x?"),
    Release("18.0", "570.124.03", "570.124.06", nvaie="6.0?"),
    Release("18.1", "570.133.10", "570.133.20", nvaie="6.x?"),
    Release("18.2", "570.148.06", "570.148.08", nvaie="6.x?"),
    Release("18.3", "570.158.02", "570.158.01", nvaie="6.x?"),
    Release("18.4", "570.172.07", "570.172.08", nvaie="6.4?"),
    Release("18.5", "570.195.02", "570.195.03", nvaie="6.x?"),
    Release("18.6", "570.211.01", "570.211.01", nvaie="6.x"),
    Release("19.0", "580.65.05", "580.65.06", seen_on_esxi=True, nvaie="7.0?"),
    Release("19.1", "580.82.02", "580.82.07", nvaie="7.x?"),
    Release("19.2", "580.95.02", "580.95.05", nvaie="7.x?"),
    Release("19.3", "580.105.06", "580.105.08", nvaie="7.x?", sure=False),
    Release("19.4", "580.126.08", "580.126.09", nvaie="7.x?", sure=False),
    Release("19.5", "580.159.01", "580.159.03", nvaie="7.x?"),
    Release("20.0", "595.58.02", "595.58.03", nvaie="8.0"),
    Release("20.1", "595.71.03", "595.71.05", seen_on_esxi=True, nvaie="8.1"),
)

# From this branch on, NVIDIA's pages disagree about the previous long-term branch (AI Enterprise 7 to 9 against the
# release notes of vGPU 19).
_AI_ENTERPRISE_7 = 580
_BY_NUMBER = {branch.number: branch for branch in BRANCHES}
_OLDEST, _NEWEST = min(_BY_NUMBER), max(_BY_NUMBER)


def release_of(host_version: str) -> str | None:
    """The name of the release that a host driver belongs to; None for one that the table does not have."""
    found = [release.name for release in RELEASES if release.host == _driver(host_version)]
    return "/".join(found) or None


def guest_branches(host_version: str) -> list[int]:
    """The branches whose guests may run on this host driver, newest first."""
    host = versions.parse(host_version)
    if host is None:
        return []
    known = {branch.number for branch in BRANCHES} | {host.branch}
    return sorted((number for number in known if _judge(host.branch, number).allowed), reverse=True)


def guest_allowed(host_version: str, guest_version: str) -> Verdict:
    """The Verdict on a guest driver on a host driver, by their versions (release notes of vGPU 19, chapter 1.2)."""
    host, guest = versions.parse(host_version), versions.parse(guest_version)
    for given, parsed in ((host_version, host), (guest_version, guest)):
        if parsed is None:
            return Verdict(False, "not_a_version", f"{given} is not the version of a driver, such as 550.54.16.", False)
    pairs = [
        release.name
        for release in RELEASES
        if (release.host, release.guest)
        == (cast("versions.DriverVersion", host).driver, cast("versions.DriverVersion", guest).driver)
    ]
    if pairs:
        return Verdict(True, "same_release", f"Both are of release {pairs[0]}.")
    return _judge(cast("versions.DriverVersion", host).branch, cast("versions.DriverVersion", guest).branch)


def _judge(host: int, guest: int) -> Verdict:
    if guest == host:
        reason = f"Both are of branch R{host}, but no document pairs these two releases; it works in practice."
        return Verdict(True, "same_branch", reason, sure=False)
    if host in _BY_NUMBER and guest not in _BY_NUMBER and _OLDEST < guest < _NEWEST:
        # Windows guests have branches of their own, such as R528 beside R525; so have drivers without vGPU.
        reason = f"R{guest} is not a known branch of Linux guests."
        return Verdict(False, "unknown_branch", reason, sure=False)
    if guest > host:
        reason = (
            f"A guest of branch R{guest} is newer than the host of branch R{host}: its VM would start without vGPU."
        )
        return Verdict(False, "newer_guest", reason)
    if host not in _BY_NUMBER:
        return _judge_unknown(host, guest)
    if guest == max((number for number in _BY_NUMBER if number < host), default=None):
        return Verdict(True, "previous_branch", f"R{guest} is the branch before that of the host, R{host}.")
    ours, theirs = _BY_NUMBER[host], _BY_NUMBER.get(guest)
    long_term = [number for number, branch in _BY_NUMBER.items() if branch.long_term and number < host]
    if ours.long_term and guest == max(long_term, default=None):
        reason = f"R{guest} is the long-term branch before that of the host, R{host}."
        if host >= _AI_ENTERPRISE_7:
            reason += " The pages of NVIDIA AI Enterprise allow at most one branch older."
        sure = ours.sure and cast("Branch", theirs).sure and host < _AI_ENTERPRISE_7
        return Verdict(True, "previous_long_term_branch", reason, sure=sure)
    return Verdict(
        False,
        "older_guest",
        f"A guest of branch R{guest} is too old for a host of branch R{host}: the host allows the same branch, the one "
        "before it and, for a long-term branch, the long-term branch before it.",
    )


def _judge_unknown(host: int, guest: int) -> Verdict:
    # The guest is older than the host here, as _judge has decided about the others.
    if guest == _NEWEST:
        reason = f"R{host} is not a known branch; R{guest}, the newest known branch, counts as the one before it."
        return Verdict(True, "previous_branch", reason, sure=False)
    reason = f"R{host} is not a known branch, so it is unknown whether R{guest} is the branch before it."
    return Verdict(False, "unknown_branch", reason, sure=False)


def _driver(text: str) -> str | None:
    parsed = versions.parse(text)
    return parsed.driver if parsed is not None else None
