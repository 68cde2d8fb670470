# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The error class for all expected failures of this collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core import logins, plain_text

if TYPE_CHECKING:
    from ansible.module_utils.basic import AnsibleModule
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change


# The page with one anchor for each failure code, by its path in the collection.
CODES = "docs/failure_codes.md"


def explained(code: str) -> str:
    """The place of the documentation that explains a failure code."""
    return f"{CODES}#{code}"


def documented(code: str, **failure: object) -> dict[str, object]:
    """The machine-readable form of a failure: its data, its code, and the place that explains the code."""
    return dict(failure, code=code, next=explained(code))


class OperatorError(Exception):
    """An error with the object (subject), its failure (wanted), the measured cause (found) and the fix (todo).

    wanted continues the subject, such as "cannot read the file"; found and todo are whole sentences.
    """

    def __init__(self, subject: str, wanted: str, found: str, todo: str, code: str, **data: object) -> None:
        # A terminal shows these texts, and parts of them come from guests, switches and BMCs.
        self.subject, self.wanted = _shown(subject), _shown(wanted)
        self.found, self.todo = _shown(found), _shown(todo)
        self.code = code
        self.data: dict[str, Any] = cast("dict[str, Any]", logins.hidden(plain_text.shown_all(data)))
        super().__init__(self.message)

    @property
    def message(self) -> str:
        parts = [f"{self.subject}: {self.wanted}", self.found, self.todo]
        return " ".join(_sentence(part) for part in parts if part)

    @property
    def failure(self) -> dict[str, object]:
        """The machine-readable form of the message."""
        return documented(self.code, **dict(self.data, subject=self.subject))


def not_proved(
    subject: str, failure: str, left: Sequence[Change], fix: str, cause: str = "Still different"
) -> OperatorError:
    """The error of an object that a new reading shows with these differences after the change."""
    found = f"{cause}: {'; '.join(str(change) for change in left)}"
    return OperatorError(subject, failure, found, fix, "not_proved", left=[change.path for change in left])


def _shown(text: str) -> str:
    return logins.hidden(plain_text.shown(text))


def _sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else text + "."


def fail_if_invalid(module: AnsibleModule, problems: Sequence[str], **answer: object) -> None:
    """End a module whose parameters contradict each other, before it reads anything; problems are whole sentences."""
    if problems:
        failure = documented("invalid_parameters", problems=problems)
        module.fail_json(msg=" ".join(problems), failure=failure, **answer)
