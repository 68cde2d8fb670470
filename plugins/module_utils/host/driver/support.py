# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Rules of support between drivers, ESXi, boards and the licence server, each with its mark. Pure.

A sure rule that a host breaks blocks a run. A site can accept an entry that is not sure by its key.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import BOARDS
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import version as versions
from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS

if TYPE_CHECKING:
    from typing import Iterator

    from ansible_collections.aiready.vsphere.plugins.module_utils.gpu.boards import Board

AI_ENTERPRISE = "docs.nvidia.com/ai-enterprise, releases 7 to 9"
IN_THE_FIELD = "a field guide to AI Enterprise 8 on vSphere, which quotes the release notes"


@dataclass(frozen=True)
class Entry:
    """One rule, with its certainty. A site accepts an unsure one by its key."""

    key: str
    rule: str
    source: str
    sure: bool = True


@dataclass(frozen=True)
class EsxMinimum:
    """The oldest release of each major version of ESXi that takes the drivers of a branch."""

    branch: int
    key: str
    oldest: tuple[str, ...]
    # The patch of the first of these, which has no release number of its own.
    patch: str = ""


class Verdict(NamedTuple):
    """A broken rule (blocks), or one that cannot be measured (open): key, state, subject, cause and fix."""

    key: str
    blocks: bool
    what: str
    found: str
    todo: str


ENTRIES = (
    Entry("esx_r580", "Drivers of R580 need ESXi 8.0.3 or 9.0.0, or newer.", IN_THE_FIELD, sure=False),
    Entry("esx_r595", "Drivers of R595 need ESXi 8.0.3 with patch P06, or 9.0.1, or newer.", IN_THE_FIELD, sure=False),
    Entry(
        "esx_mig_blackwell",
        "With R580, MIG-backed types of some Blackwell boards need ESXi 9.0.1.",
        "a public summary of NVIDIA's release notes",
        sure=False,
    ),
    Entry(
        "dls_3_4",
        "Guests of R570 and newer get no licence from DLS 3.3 and older. DLS 3.4 serves them.",
        "a public summary of NVIDIA's notes on troubleshooting vGPU",
        sure=False,
    ),
    Entry(
        "guest_branch",
        "A guest driver is of the branch of the host driver or of the one before it, never newer.",
        f"{AI_ENTERPRISE}; release notes of vGPU 19",
    ),
    Entry(
        "guest_long_term",
        "From R580 on, the previous long-term branch is allowed only by the release notes of vGPU 19.",
        "release notes of vGPU 19; the pages of AI Enterprise allow one branch",
        sure=False,
    ),
    Entry(
        "mig_minimum",
        "MIG on B200 needs 570.133.20, on B300 580.82.07, on RTX PRO 6000 575.51.03. Host drivers of the same release "
        "have other last digits, which are not compared.",
        AI_ENTERPRISE,
    ),
    Entry(
        "without_volta",
        "vGPU 20.1 and newer have no types for V100.",
        "table of contents of AI Enterprise 8.1",
        sure=False,
    ),
    Entry(
        "without_turing",
        "vGPU 21 and newer have no types for T4.",
        "page of AI Enterprise 9.0, which was not read to its end",
        sure=False,
    ),
    Entry(
        "nvswitch",
        "A host with NVSwitch needs the Fabric Manager component for ESXi of AI Enterprise 8.2, which 9.0 lacks. "
        "It offers only time-sliced vGPUs, all peers belong to one VM, and passthrough is not supported.",
        AI_ENTERPRISE,
    ),
    Entry(
        "nvswitch_boards",
        "SXM and HGX boards share their host with NVSwitch. If vCenter lists no NVSwitch, preflight asks.",
        "derived from the names of the boards",
        sure=False,
    ),
    Entry(
        "hardware_22",
        "Virtual hardware version 20 needs ESXi 8.0, 21 needs 8.0.2, and 22 needs 9.0.",
        "vmware/govmomi object/hardware_version.go",
    ),
    Entry(
        "roce_v1",
        "ESXi 9.0 and newer have no RoCE v1.",
        "a public summary of the release notes of VCF 9.0; the types of the API still list it",
        sure=False,
    ),
    Entry(
        "vgpu_21",
        "AI Enterprise 9.0 has vGPU 21. Its driver versions were not found, so the newest known branch is R595.",
        AI_ENTERPRISE,
    ),
)
ESX_MINIMUM = (
    EsxMinimum(580, "esx_r580", ("8.0.3", "9.0.0")),
    EsxMinimum(595, "esx_r595", ("8.0.3", "9.0.1"), patch="P06"),
)
# The first release of vGPU software without types for these boards, as (major, minor).
DROPPED = (("without_volta", "v100", (20, 1)), ("without_turing", "t4", (21, 0)))
# The first ESXi of a virtual hardware version.
HARDWARE = {20: "8.0.0", 21: "8.0.2", 22: "9.0.0"}
# The first branch whose guests need DLS 3.4.
DLS_BRANCH, DLS_OLDEST = 570, (3, 4)
_KEYS = {entry.key: entry for entry in ENTRIES}
_BLACKWELL_MIG = "9.0.1"


def entry(key: str) -> Entry:
    return _KEYS[key]


def esx(host_driver: str, release: str) -> Iterator[Verdict]:
    """Whether a release of ESXi takes a host driver."""
    driver, now = versions.parse(host_driver), _numbers(release)
    if driver is None or not now:
        return
    # A branch that is not in the table needs at least what the newest one before it needs.
    rows = [row for row in ESX_MINIMUM if row.branch <= driver.branch]
    if not rows:
        return
    row = rows[-1]
    what, needs = "ESXi for the host driver", " or ".join(row.oldest)
    oldest = next((one for one in row.oldest if _numbers(one)[0] == now[0]), None)
    newer_major = now[0] > max(_numbers(one)[0] for one in row.oldest)
    if newer_major:
        return
    if oldest is None or now < _numbers(oldest):
        found = f"The host has ESXi {release}, and driver {driver} needs {needs} or newer."
        yield Verdict(row.key, True, what, found, "Update ESXi, or use a host driver of an older branch.")
    elif row.patch and oldest == row.oldest[0] and now[:3] == _numbers(oldest):
        found = (
            f"Driver {driver} needs patch {row.patch} of ESXi {oldest}. The release number does not contain the patch."
        )
        todo = f"Compare the build of the host with the release notes of {oldest} {row.patch}."
        yield Verdict(row.key, False, what, found, todo)


def mig(host_driver: str, release: str, boards: list[Board]) -> Iterator[Verdict]:
    """Whether a host driver and ESXi offer MIG on the boards."""
    driver, now = versions.parse(host_driver), _numbers(release)
    for board in boards:
        gpu = GPUS.get(board.mig_gpu or "")
        needs = versions.parse(gpu.min_driver) if gpu is not None else None
        if driver is None or gpu is None or needs is None:
            continue
        if driver.numbers[:2] < needs.numbers[:2]:
            found = f"MIG on {board.title} needs driver {needs}, and the host driver is {driver}."
            todo = f"Install a host driver of release {needs.numbers[0]}.{needs.numbers[1]} or newer."
            yield Verdict("mig_minimum", True, "driver for MIG", found, todo)
        if gpu.architecture == "blackwell" and driver.branch == 580 and now and now < _numbers(_BLACKWELL_MIG):
            found = (
                f"The host has ESXi {release}. Some Blackwell boards offer MIG-backed types only on {_BLACKWELL_MIG}."
            )
            todo = f"Compare {board.title} with NVIDIA's release notes, or update ESXi."
            yield Verdict("esx_mig_blackwell", False, "ESXi for MIG", found, todo)


def dropped(host_driver: str, boards: list[Board]) -> Iterator[Verdict]:
    """Whether a host driver still has types for the boards."""
    release = _vgpu(host_driver)
    for board in boards:
        for key, start, first in DROPPED:
            if board.key.startswith(start) and release is not None and release >= first:
                since = ".".join(map(str, first))
                found = f"Driver {host_driver} is of vGPU {since} or newer, which has no types for {board.title}."
                yield Verdict(
                    key, True, "board", found, f"Use a host driver older than vGPU {since}, or another board."
                )


def nvswitch(mode: str, boards: list[Board], switches: int) -> Iterator[Verdict]:
    """The rules for boards that share their host with NVSwitch; switches is the number that the host shows."""
    other = mode != "vgpu"
    kind = "GPU passthrough" if mode in ("passthrough", "directpath") else "MIG-backed types"
    component = "Install that component of AI Enterprise 8.2, and give all peers of a GPU to one VM."
    if switches:
        found = (
            f"The host has {switches} NVSwitches, and vSphere does not support {kind} of their GPUs."
            if other
            else f"The host has {switches} NVSwitches and needs the Fabric Manager component for ESXi."
        )
        todo = "Use site.gpu.mode vgpu with time-sliced profiles." if other else component
        yield Verdict("nvswitch", other, "NVSwitch", found, todo)
        return
    for board in boards:
        if not has_nvswitch(board):
            continue
        if other:
            found = f"vSphere does not support {kind} on a host with NVSwitch, which {board.title} usually has."
            todo = "Use site.gpu.mode vgpu with time-sliced profiles, or check that the host has no NVSwitch."
        else:
            found = f"{board.title} needs the Fabric Manager component for ESXi if the host has NVSwitch."
            todo = component
        yield Verdict("nvswitch_boards", False, "NVSwitch", found, todo)


def newer(host_driver: str) -> Iterator[Verdict]:
    """Whether a host driver is of a branch that is newer than all known ones."""
    driver, newest = versions.parse(host_driver), max(branch.number for branch in matrix.BRANCHES)
    if driver is not None and driver.branch > newest:
        found = f"Driver {driver} is newer than R{newest}, the newest branch whose rules are known."
        todo = "Compare ESXi, the boards and the guest drivers with the release notes of the driver."
        yield Verdict("vgpu_21", False, "driver branch", found, todo)


def guest(host_driver: str, guest_driver: str, licensed: bool) -> Iterator[Verdict]:
    """What the table of releases leaves open about an allowed pair, and the licence server of the guest."""
    verdict = matrix.guest_allowed(host_driver, guest_driver)
    if verdict.allowed and verdict.rule == "previous_long_term_branch" and not verdict.sure:
        todo = f"Use a guest driver of {_branches(matrix.guest_branches(host_driver)[:2])}."
        yield Verdict("guest_long_term", False, "long-term branch", verdict.reason, todo)
    parsed = versions.parse(guest_driver)
    if licensed and parsed is not None and parsed.branch >= DLS_BRANCH:
        found = f"Guests of R{parsed.branch} get no licence from DLS 3.3 and older. Its version cannot be read here."
        yield Verdict("dls_3_4", False, "licence server", found, "Update DLS to 3.4 or newer. CLS needs nothing.")


def machine(release: str, hardware: int | None, protocol: str | None) -> Iterator[Verdict]:
    """Whether a release of ESXi has a virtual hardware version, and a protocol of PVRDMA."""
    now = _numbers(release)
    if not now:
        return
    first = HARDWARE.get(hardware or 0)
    if first and now < _numbers(first):
        found = f"Hardware version {hardware} needs ESXi {first}, and the host has {release}."
        yield Verdict(
            "hardware_22", True, "hardware version", found, "Lower site.machine.hardware_version, or update ESXi."
        )
    if protocol == "rocev1" and now[0] >= 9:
        found = f"ESXi {release} has no RoCE v1."
        yield Verdict("roce_v1", True, "RoCE", found, "Set site.network.protocol to auto or rocev2.")


def has_nvswitch(board: Board) -> bool:
    """Whether the servers that a board is built for usually have NVSwitch."""
    return "HGX" in board.title or bool(re.search(r"SXM[45]", board.title)) or board.key == "h200_sxm"


def boards_of(names: list[str]) -> list[Board]:
    """Boards of the table by the names that vCenter reports."""
    return [board for board in BOARDS if board.product in names]


def _vgpu(host_driver: str) -> tuple[int, ...] | None:
    """The release of vGPU software of a driver; for an unknown one, the first of its branch."""
    name = (matrix.release_of(host_driver) or "").partition("/")[0]
    if name:
        return _numbers(name)
    driver = versions.parse(host_driver)
    if driver is None:
        return None
    majors = {branch.number: branch.major for branch in matrix.BRANCHES}
    if driver.branch > max(majors):
        return (max(majors.values()) + 1, 0)
    return (majors[driver.branch], 0) if driver.branch in majors else None


def _branches(numbers: list[int]) -> str:
    return " or ".join(f"R{number}" for number in numbers)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])
