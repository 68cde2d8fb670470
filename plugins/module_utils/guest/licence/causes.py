# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Find the cause of a missing licence from the report of its service, its clock and the network. Pure.

NVIDIA documents few of the messages of the service. They are matched by single words, and a journal that matches none
is shown unchanged.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Sequence

from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError
from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence import plan, token

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.guest.licence.state import LicenceState

# (code, pattern of the journal, cause, fix). The first match counts; the most certain causes come first.
CAUSES = (
    (
        "feature_type",
        r"[Ii]nvalid feature|[Nn]o pool features|[Ff]eature.*not (?:found|available|supported)|not entitled"
        r"|No licen[sc]e.*available|[Ii]nsufficient licen[sc]es|exhausted",
        "The licence server has no licence for this feature type, or no free licence",
        "Compare `feature_type` with the licences on the server and with the vGPU profile. Use vgpu for a vGPU and "
        "compute for a GPU in passthrough mode",
    ),
    (
        "clock_wrong",
        r"[Cc]lock|not yet valid|[Tt]ime.*(?:skew|mismatch|differ)|allowed time to process response has expired",
        "The clocks of the guest and the licence server differ",
        "Synchronise the clock of the guest with chrony, then run the task again",
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
        "Open the ports 443 and 80 from the guest to the server (NVIDIA cloud service: api.cls.licensing.nvidia.com), "
        "or set the proxy in `settings`",
    ),
    (
        "certificate",
        r"[Cc]ertificate|SSL|TLS|trusted store",
        "The guest and the licence server do not trust each other",
        "Check the certificate of the licence server and the clock of the guest",
    ),
    # Other causes, which are reported above, lead to this message too.
    ("token_refused", r"[Ff]ailed to register client", "The service cannot use the token", plan.PORTAL),
)
# Lines of a new start: earlier lines belong to an older configuration.
BEGIN = re.compile(r"NLS initialized|Started .*(?:[Gg]rid|gridd)")
NORMAL = re.compile(
    r"Configuration parameter|Ignore service provider|vGPU Software package|NLS initialized|Started |Shutdown \("
    r"|^(?:Starting|Stopping|Stopped) "
    r"|\.service: (?:Main process exited|Failed with result|Deactivated|Succeeded|Consumed|Scheduled restart)"
)
SHOWN = 3


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
    wanted = f"its vGPU has no licence after {seconds:.0f} s"
    said = last_words(journal)
    shown = f". The last log lines of the service: {said}" if said else ""
    if state.service != "active":
        # It ends by itself when it cannot even begin, as with a token that is broken.
        known = _known(journal)
        return OperatorError(
            label,
            wanted,
            f"The service nvidia-gridd is {state.service or 'not installed'}{shown}",
            known[2] if known else "Check `journalctl -u nvidia-gridd` on the guest",
            "service_failed",
            service=state.service,
        )
    if state.status is None:
        return OperatorError(
            label,
            wanted,
            f"nvidia-smi shows no GPU that needs a licence: {state.report.said or 'it reports no licence state'}",
            "Run the module vgpu_guest_driver, which reports the cause",
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
        f"nvidia-smi reports {state.status}. {found}{shown}.{clock}",
        todo,
        code,
        status=state.status,
        unreachable=list(unreachable),
    )


def last_words(journal: str) -> str:
    """The last lines about the licence."""
    lines = [line for line in _since_begin(journal) if not NORMAL.search(line)]
    return " / ".join(lines[-SHOWN:])


def _known(journal: str) -> tuple[str, str, str] | None:
    """(code, cause, fix) of the first cause in the journal; None without one."""
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
        "The service runs and its log has no known cause",
        "Increase `wait_s`, and check `journalctl -u nvidia-gridd` on the guest",
    )


def _since_begin(journal: str) -> list[str]:
    lines = [line.strip() for line in journal.splitlines() if line.strip()]
    starts = [index for index, line in enumerate(lines) if BEGIN.search(line)]
    return lines[starts[-1] :] if starts else lines
