"""The tables of docs/compatibility.md, made from the code: `python tests/house/compatibility.py` writes them.

What is modelled is in the twin's own tables, what is tested is named by a test that runs on it, and what is captured is
a file of tests. Runs on real hardware are no data of the code: they are in REAL, each with its date.
"""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docs" / "compatibility.md"
COMMAND = "python tests/house/compatibility.py"
UTILS = "ansible_collections.aiready.vsphere.plugins.module_utils"
ON_TWIN = (
    "tests/wire",
    "tests/e2e",
    "tests/guests",
    "tests/twin/tests",
    "tests/twin/src/vsphere_twin/seeds",
    "extensions",
)
SAMPLES = ROOT / "tests" / "unit" / "plugins" / "module_utils" / "fabric" / "samples"
SMI = ROOT / "tests" / "twin" / "tests" / "data" / "nvidia_smi"
# docs/performance.md, "On a real GPU".
REAL = {"h100_sxm_80gb": "2026-11-22, passthrough", "R580": "2026-11-22, 580.159.04 in the guest"}
REAL_GUEST = {"Ubuntu 24.04": "2026-11-22, without the roles"}
# The start of the file names of nvidia-smi, and the board that it was captured on.
CAPTURED = {
    "a100_pcie_40gb": "a100-pcie40_",
    "a30": "a30_",
    "gh200_96gb": "gh200-96_",
    "gb200": "gb200_",
    "h100_sxm_80gb": "h100-sxm80_",
    "l40s": "l40s_",
    "rtx_pro_6000_server": "rtxpro6000-server_",
}
# Read only, from captured output.
NOT_MODELLED = ("junos",)


@cache
def words() -> frozenset[str]:
    """All words of all tests that run on the twin; a version is one word."""
    files = (path for folder in ON_TWIN for path in sorted((ROOT / folder).rglob("*")))
    texts = (path.read_text() for path in files if path.suffix in (".py", ".yml"))
    return frozenset(word.strip(".") for text in texts for word in re.findall(r"[\w.]+", text))


def on_twin(word: str) -> str:
    return "tested" if word in words() else "modelled"


def outputs(count: int) -> str:
    return f"{count} output{'s' * (count > 1)}" if count else ""


def vsphere() -> list[list[str]]:
    releases = importlib.import_module("vsphere_twin.model.release").RELEASES
    return [[name, on_twin(name), "", ""] for name in releases]


def branches() -> list[list[str]]:
    matrix = importlib.import_module(f"{UTILS}.host.driver.matrix")
    rows = []
    for branch in matrix.BRANCHES:
        numbers = [number for one in matrix.RELEASES for number in (one.host, one.guest)]
        tests = any(number in words() for number in numbers if number.startswith(f"{branch.number}."))
        found = {m[1] for path in SMI.iterdir() if (m := re.search(rf"_({branch.number}\.[\d.]+\d)_", path.name))}
        name = f"R{branch.number}"
        rows.append([name, "tested" if tests else "modelled", ", ".join(sorted(found)), REAL.get(name, "")])
    return rows


def drivers() -> list[list[str]]:
    """Each branch with the newest release, and what it needs from ESXi."""
    matrix = importlib.import_module(f"{UTILS}.host.driver.matrix")
    support = importlib.import_module(f"{UTILS}.host.driver.support")
    minima = {row.branch: row for row in support.ESX_MINIMUM}
    rows = []
    for branch in matrix.BRANCHES:
        newest = [one for one in matrix.RELEASES if one.host.startswith(f"{branch.number}.")][-1]
        needs = minima.get(branch.number)
        oldest = " or ".join(needs.oldest) if needs else ""
        patch = f" ({needs.oldest[0]} with {needs.patch})" if needs and needs.patch else ""
        driver = newest.host if newest.host == newest.guest else f"{newest.host} / {newest.guest}"
        rows.append(
            [
                f"R{branch.number}",
                f"{newest.name}",
                mark(newest.sure),
                driver,
                newest.nvaie,
                f"{oldest}{patch}",
                mark(support.entry(needs.key).sure) if needs else "",
            ]
        )
    return rows


def rules() -> list[list[str]]:
    """The rules of support, each with its mark and source."""
    entries = importlib.import_module(f"{UTILS}.host.driver.support").ENTRIES
    return [[f"`{one.key}`", one.rule, mark(one.sure), one.source] for one in entries]


def mark(sure: bool) -> str:
    return "[sure]" if sure else "[unsure]"


def gpus() -> list[list[str]]:
    boards = importlib.import_module(f"{UTILS}.gpu.boards").BOARDS
    rows = []
    for board in boards:
        start = CAPTURED.get(board.key)
        count = sum(path.name.startswith(start) for path in SMI.iterdir()) if start else 0
        rows.append([board.title, f"`{board.key}`", on_twin(board.key), outputs(count), REAL.get(board.key, "")])
    return rows


def adapters() -> list[list[str]]:
    models = importlib.import_module("vsphere_twin.model.adapters").MODELS.values()
    return [[model.name, f"`{model.key}`", on_twin(model.key), "", ""] for model in models]


def switches() -> list[list[str]]:
    platform = importlib.import_module(f"{UTILS}.fabric.platform")
    kind = importlib.import_module("vsphere_twin.switches.device").kind
    rows = []
    for name in platform.known():
        versions = "not modelled" if name in NOT_MODELLED else ", ".join(kind(name).VERSIONS)
        rows.append([platform.platform_of(name, None).title, versions, outputs(captured(name)), ""])
    return rows


def captured(platform: str) -> int:
    """How many captured outputs of a platform there are; those of both kinds of SONiC share a folder."""
    shared = {"enterprise_sonic": "sonic"}
    names = [path.name for path in (SAMPLES / shared.get(platform, platform)).iterdir()]
    if platform in ("sonic", "enterprise_sonic"):
        names = [name for name in names if name.startswith("enterprise_") == (platform != "sonic")]
    return len(names)


def guests() -> list[list[str]]:
    supported = importlib.import_module(f"{UTILS}.guest.os_release").SUPPORTED
    titles = {"ubuntu": "Ubuntu", "debian": "Debian", "rhel": "RHEL", "rocky": "Rocky Linux"}
    rows = [f"{titles[name]} {version}" for name, versions in supported.items() for version in versions]
    return [[row, "tested" if row == "Debian 12" else "", "", REAL_GUEST.get(row, "")] for row in rows]


def cores() -> list[list[str]]:
    uses = {
        "oldest-core": "rehearsal, `preflight`",
        "tools": "all gates",
        "newer-core": "imports, documentation, unit tests",
    }
    rows = []
    for lock, use in uses.items():
        text = (ROOT / "requirements" / f"{lock}.txt").read_text()
        rows += [[version, use, "", ""] for version in re.findall(r"^ansible-core==([\d.]+)", text, re.M)]
    return rows


HEADS = {
    "vsphere": "vCenter and ESXi",
    "branches": "Branch",
    "gpus": "Board | Key",
    "adapters": "Adapter | Key",
    "switches": "Platform",
    "guests": "Distribution",
    "cores": "ansible-core",
}
# Tables with columns of their own.
OWN_HEADS = {
    "drivers": "Branch | Newest vGPU | Its mark | Host driver / guest driver | AI Enterprise | Oldest ESXi | Its mark",
    "rules": "Key | Rule | Mark | Source",
}
COLUMNS = "Tested on the twin | Parsers tested on captures | Run on real hardware"


def table(name: str) -> str:
    """One table of the page, with the comments around it."""
    head = f"| {OWN_HEADS[name]} |" if name in OWN_HEADS else f"| {HEADS[name]} | {COLUMNS} |"
    rows = [f"| {' | '.join(row)} |" for row in globals()[name]()]
    return "\n".join(
        [f"<!-- {name}: made by tests/house/compatibility.py -->", head, "|---" * head.count(" | ") + "|---|", *rows]
    )


def renewed(text: str) -> str:
    """The page with all tables as they are in the code."""
    for name in (*HEADS, *OWN_HEADS):
        before, mark, rest = text.partition(f"<!-- {name}: ")
        if not mark:
            raise ValueError(f"{FILE.name} has no place for the table {name}.")
        text = before + table(name) + rest[rest.index("\n<!-- end -->") :]
    return text


if __name__ == "__main__":
    sys.path[:0] = [str(ROOT / "tests"), str(ROOT), str(ROOT / "tests" / "twin" / "src")]
    importlib.import_module("conftest")
    FILE.write_text(renewed(FILE.read_text()))
