# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The test container of an engine: its command, and why it does not run or does not see every GPU. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages.runtime_plan import Inputs

GPU_OPTIONS: dict[str, Sequence[str]] = {
    "docker": (
        *("--runtime", "nvidia", "--env", "NVIDIA_VISIBLE_DEVICES=all"),
        *("--env", "NVIDIA_DRIVER_CAPABILITIES=compute,utility"),
    ),
    "podman": ("--device", "nvidia.com/gpu=all", "--security-opt", "label=disable"),
}
UUID = re.compile(r"(?:GPU|MIG)-[0-9a-fA-F][0-9a-fA-F/-]+")
# Messages of engines for failed pulls and runs, and the fix.
HINTS = (
    ("no space left on device", "Free space on the disk of the engine's images. `df -h` shows the disks."),
    ("certificate signed by unknown authority", "Set ca_file of the registry to the certificate of its authority."),
    (
        "unauthorized|authentication required|denied",
        "Set a login that can pull the image in container_runtime_registries.",
    ),
    ("manifest unknown|not found: manifest|repository .* not found", "Check the name and the tag of the image."),
    (
        "no such host|connection refused|timeout|network is unreachable",
        "Check that the guest reaches the registry.",
    ),
    ("server gave HTTP response to HTTPS client", "The registry uses HTTP. Set its `insecure` to true."),
    (
        "unknown runtime|nvidia-container-cli|libnvidia-ml",
        "Check with `nvidia-smi` that the driver of the guest is loaded.",
    ),
    ("executable file not found", "The image does not contain the program. Use another container_runtime_proof_image."),
)
NO_HINT = "Check the journal of the engine."
# timeout(1) exits with this status.
TIMED_OUT = 124


@dataclass(frozen=True)
class Container:
    """The container that tests the engine; undecided is the reason why none runs."""

    undecided: str
    argv: list[str]
    pull_problem: str
    problem: str
    success: str


def container_of(requested: Inputs, seen: Mapping[str, Mapping[str, Any]]) -> Container:
    proof = seen["container"]
    unseen = _unseen(seen["host_gpus"], proof)
    lines = "; ".join(line.strip() for line in proof.get("stdout_lines") or ())
    return Container(
        undecided=_undecided(requested),
        argv=_argv(requested),
        pull_problem=_pull_problem(requested, seen["pull"]),
        problem=_problem(requested, proof, unseen),
        success=(
            f"A container sees every GPU: {lines}"
            if requested.gpu
            else "A container runs. GPUs were not tested, because container_runtime_gpu is off."
        ),
    )


def _argv(requested: Inputs) -> list[str]:
    program, *words = ("nvidia-smi", "-L") if requested.gpu else requested.proof_command or ("",)
    options = GPU_OPTIONS.get(requested.engine, ()) if requested.gpu else ()
    start = (requested.engine, "run", "--rm", "--network", "none", *options)
    return [*start, "--entrypoint", program, requested.proof_image, *words]


def _undecided(requested: Inputs) -> str:
    if not requested.proof_image:
        return "container_runtime_proof_image is empty"
    return "containerd has no command for it" if requested.engine == "containerd" else ""


def _pull_problem(requested: Inputs, pull: Mapping[str, Any]) -> str:
    """Why the image is missing; empty if it was pulled."""
    if pull.get("rc") == 0:
        return ""
    if pull.get("rc") == TIMED_OUT:
        why = f"It took longer than {requested.pull_timeout_s} seconds."
    else:
        why = _last_line(pull, "The engine printed no error.")
    return f"cannot pull the image {requested.proof_image}. {why} {_hint(pull)}"


def _problem(requested: Inputs, proof: Mapping[str, Any], unseen: Iterable[str]) -> str:
    """Why the container test failed; empty if it ran and saw every GPU."""
    status = proof.get("rc", "not tried")
    if status == 0 and not unseen:
        return ""
    if status == 0:
        why = f"does not see {', '.join(unseen)}"
    else:
        why = f"did not run ({status}): {_last_line(proof, 'no error output')}"
    return f"a container of {requested.proof_image} {why}. {_hint(proof)}"


def _unseen(host: Mapping[str, Any], proof: Mapping[str, Any]) -> list[str]:
    """The GPUs of the guest that are not visible in the container."""
    inside = UUID.findall(proof.get("stdout") or "")
    return [one for one in UUID.findall(host.get("stdout") or "") if one not in inside]


def _last_line(result: Mapping[str, Any], silent: str) -> str:
    lines = result.get("stderr_lines")
    return str(lines[-1]) if lines else silent


def _hint(result: Mapping[str, Any]) -> str:
    """The fix for the first problem that matches the engine's output."""
    words = result.get("stderr") or ""
    return next((fix for says, fix in HINTS if re.search(says, words)), NO_HINT)
