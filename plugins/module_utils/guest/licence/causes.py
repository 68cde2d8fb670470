# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Why a guest gets no licence, from what its service, its clock and the network say. Pure.

NVIDIA documents few of the messages of the service. They are matched by single words, and a journal that matches none
is shown as it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import plan, token

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.state import LicenceState

# (code, words of the journal, what is found, what to do). The first that fits tells; the order is that of certainty.
CAUSES = (
    (
        "feature_type",
        r"[Ii]nvalid feature|[Nn]o pool features|[Ff]eature.*not (?:found|available|supported)|not entitled"
        r"|No licen[sc]e.*available|[Ii]nsufficient licen[sc]es|exhausted",
        "The licence server has no licence for this feature type, or none is free",
        "Compare `feature_type` with the licences on the server and with the profile of the vGPU: vgpu for a vGPU, "
        "compute for a GPU that is passed through",
    ),
    (
        "clock_wrong",
        r"[Cc]lock|not yet valid|[Tt]ime.*(?:skew|mismatch|differ)|allowed time to process response has expired",
        "The clocks of the guest and the licence server do not agree",
        "Set the clock of the guest, best by chrony, and run the task again",
    ),
    (
        "token_refused",
        r"[Tt]oken.*(?:invalid|expired|fail|corrupt|not found|unable)|(?:[Ii]nvalid|[Ff]ailed|[Uu]nable).*token",
        "The service cannot use the token",
        plan.PORTAL,
    ),
    (
        "server_unreachable",
        r"[Cc]ould(?:n't| not) (?:resolve|connect)|[Ff]ailed to connect|[Tt]imed? ?out|unreachable|[Nn]o route"
        r"|[Ff]ailed server communication|[Nn]etwork communication fail|[Cc]onnection (?:refused|reset)|Resolving timed"
        r"|getaddrinfo",
        "The licence server cannot be reached",
        "Open the ports 443 and 80 from the guest to it (for NVIDIA's own service it is api.cls.licensing.nvidia.com), "
        "or set the proxy in `settings`",
    ),
    (
        "certificate",
        r"[Cc]ertificate|SSL|TLS|trusted store",
        "The guest and the licence server do not trust each other",
        "Look at the certificate of the licence server and at the clock of the guest",
    ),
    # It follows from others too, which are told above it.
    ("token_refused", r"[Ff]ailed to register client", "The service cannot use the token", plan.PORTAL),
)
# What shows that the service has begun anew: what it said before is of an older configuration.
BEGIN = re.compile(r"NLS initialized|Started .*(?:[Gg]rid|gridd)")
NORMAL = re.compile(
    r"Configuration parameter|Ignore service provider|vGPU Software package|NLS initialized|Started |Shutdown \("
    r"|^(?:Starting|Stopping|Stopped) "
    r"|\.service: (?:Main process exited|Failed with result|Deactivated|Succeeded|Consumed|Scheduled restart)"
)
TOLD = 3


def why(
    label: str,
    state: LicenceState,
    journal: str,
    held: token.Token | None = None,
    now_s: float | None = None,
    unreachable: Sequence[str] = (),
    synchronised: bool | None = None,
    seconds: float = 0,
) -> OperatorError:
    """The error for a guest whose GPUs have no licence after so many seconds."""
    wanted = f"its vGPU shall have a licence, which it had not after {seconds:.0f} s"
    said = last_words(journal)
    shown = f". Its service said last: {said}" if said else ""
    if state.service != "active":
        # It ends by itself when it cannot even begin, as with a token that is broken.
        known = _known(journal)
        return OperatorError(
            label,
            wanted,
            f"The service nvidia-gridd is {state.service or 'not there'}{shown}",
            known[2] if known else "Look at `journalctl -u nvidia-gridd` on the guest",
            "service_failed",
            service=state.service,
        )
    if state.status is None:
        return OperatorError(
            label,
            wanted,
            f"nvidia-smi shows no GPU that needs one: {state.report.said or 'it has no word of licences'}",
            "Run the module vgpu_guest_driver, which tells why",
            "no_gpu",
        )
    wrong = token.wrong_time(held or token.Token(), now_s) if now_s is not None else None
    if wrong is not None:
        return plan.wrong_time(label, *wrong)
    clock = " The clock of the guest is not synchronised." if synchronised is False else ""
    code, found, todo = _cause(journal, unreachable)
    return OperatorError(
        label,
        wanted,
        f"nvidia-smi says {state.status}. {found}{shown}.{clock}",
        todo,
        code,
        status=state.status,
        unreachable=list(unreachable),
    )


def last_words(journal: str) -> str:
    """The last lines that say something of the licence."""
    lines = [line for line in _since_begin(journal) if not NORMAL.search(line)]
    return " / ".join(lines[-TOLD:])


def _known(journal: str) -> tuple[str, str, str] | None:
    """(code, what is found, what to do) of the first cause that the journal tells; None where it tells none."""
    text = "\n".join(line for line in _since_begin(journal) if not NORMAL.search(line))
    return next(((code, found, todo) for code, words, found, todo in CAUSES if re.search(words, text)), None)


def _cause(journal: str, unreachable: Sequence[str]) -> tuple[str, str, str]:
    known = _known(journal)
    if known is not None:
        return known
    if unreachable:
        _code, _words, found, todo = CAUSES[3]
        return "server_unreachable", f"{found}: {', '.join(unreachable)} does not answer", todo
    return (
        "not_licensed",
        "The service runs and tells no reason that is known here",
        "Wait longer with `wait_s`, and look at `journalctl -u nvidia-gridd` on the guest",
    )


def _since_begin(journal: str) -> list[str]:
    lines = [line.strip() for line in journal.splitlines() if line.strip()]
    starts = [index for index, line in enumerate(lines) if BEGIN.search(line)]
    return lines[starts[-1] :] if starts else lines
