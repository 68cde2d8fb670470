# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""The report of one run: three files in its folder, with their present and requested content."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, cast

from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Change
from ansible_collections.aiready.vsphere.plugins.module_utils.core.errors import OperatorError, not_proved
from ansible_collections.aiready.vsphere.plugins.module_utils.core.runner import Noun
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.params import ReportRequest
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.reading import (
    STAGES,
    VALIDATION,
    recorded,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report import canvas, gallery, pages

if TYPE_CHECKING:
    from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item

HTML, DATA, SUMMARY = FILES = ("report.html", "report.json", "report.md")
# Only the end of a larger file of evidence is read, because the error is at the end.
EVIDENCE_BYTES = 256 * 1024
NO_LIBRARY = (
    "Matplotlib 3.7 or newer is not installed on the machine that runs Ansible. "
    "Install requirements.txt of the collection there, or use an execution environment that contains it."
)
NOT_WANTED = "The task sets plots to none."


@dataclass
class Report:
    """The content of the three files, the verdict and the number of plots."""

    files: dict[str, bytes | None] = field(default_factory=dict)
    verdict: dict[str, Any] | None = None
    plots: int | None = None
    # Why there are tables instead of plots.
    why: str = ""

    def digests(self) -> dict[str, str | None]:
        return {
            name: _digest(cast(bytes, self.files[name])) if self.files.get(name) is not None else None for name in FILES
        }


class ValidationReport(Noun[ReportRequest, Report]):
    """The report of one results folder."""

    def __init__(self, asked: ReportRequest, warn: Callable[[str], None]) -> None:
        self._request = asked
        self._warn = warn
        self._made: dict[str, Any] = {}
        self._folder = Path(asked.results)
        self._inputs: dict[str, dict[str, bytes | None]] = {}

    def read(self, items: Sequence[Item[ReportRequest, Report]]) -> None:
        for folder in (self._request.results, self._request.compare_with):
            if folder:
                self._inputs[folder] = _inputs(Path(folder))
        (item,) = items
        item.now = self._found()
        self._made = self._document()

    def want(self, item: Item[ReportRequest, Report]) -> Report:
        drawings, why = self._drawings(self._made)
        return Report(
            {
                HTML: pages.html(self._made, drawings, why).encode(),
                DATA: (json.dumps(self._made, indent=1, ensure_ascii=False) + "\n").encode(),
                SUMMARY: pages.markdown(self._made).encode(),
            },
            self._made["verdict"],
            len(drawings),
            why,
        )

    def compare(self, now: Report, wanted: Report) -> list[Change]:
        was, new = now.digests(), wanted.digests()
        return [
            Change(name, _said(was[name], now.files[name]), _said(new[name], wanted.files[name]))
            for name in FILES
            if was[name] != new[name]
        ]

    def explain(self, item: Item[ReportRequest, Report]) -> None:
        if item.wanted.why == NO_LIBRARY:
            self._warn(f"The report has tables instead of plots. {NO_LIBRARY}")

    def apply(self, items: Sequence[Item[ReportRequest, Report]]) -> None:
        (item,) = items
        for change in item.changes:
            item.touched = True
            self._write(change.path, cast(bytes, item.wanted.files[change.path]))

    def prove(self, items: Sequence[Item[ReportRequest, Report]]) -> None:
        for item in items:
            found = self._found()
            item.proved = Report(found.files, item.wanted.verdict, item.wanted.plots)
            left = self.compare(found, item.wanted)
            if left:
                item.error = not_proved(
                    str(self._folder),
                    "the written report has other content than expected",
                    left,
                    "Stop the process that writes into this folder, and run the task again",
                    cause="These files differ",
                )

    def project(self, state: Report) -> dict[str, Any]:
        shown: dict[str, Any] = {
            "files": {name: str(self._folder / name) for name in FILES if state.files.get(name) is not None}
        }
        if state.verdict is not None:
            shown.update(
                state=state.verdict["state"],
                title=state.verdict["title"],
                sentence=state.verdict["sentence"],
                rehearsal=state.verdict["rehearsal"],
                counts=state.verdict["counts"],
                plots=state.plots,
            )
        return shown

    def _found(self) -> Report:
        return Report({name: _read(self._folder / name) for name in FILES})

    def _document(self) -> dict[str, Any]:
        """The content of the report, with the evidence that it names."""
        earlier = None
        before = self._request.compare_with
        if before:
            earlier = document(*recorded(before, _decoded(before, self._inputs[before])))
        own = self._inputs[self._request.results]
        texts = _decoded(self._request.results, own)
        sources = [
            {"file": name, "bytes": len(raw), "sha256": _digest(raw)} for name, raw in own.items() if raw is not None
        ]
        return document(*recorded(self._request.results, texts), self._evidence, sources, earlier)

    def _evidence(self, name: str) -> str | None:
        """The text of a file of evidence; None for a path outside of the folder."""
        try:
            path = (self._folder / name).resolve()
            path.relative_to(self._folder.resolve())
            if not path.is_file():
                return None
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > EVIDENCE_BYTES:
                    file.seek(size - EVIDENCE_BYTES)
                return file.read(EVIDENCE_BYTES).decode(errors="replace")
        except (OSError, ValueError):
            return None

    def _drawings(self, made: Mapping[str, Any]) -> tuple[dict[str, str], str]:
        if self._request.plots == "none":
            return {}, NOT_WANTED
        try:
            return gallery.drawings(made), ""
        except canvas.NoPlots as missing:
            if self._request.plots == "required":
                raise OperatorError(
                    str(self._folder),
                    "cannot draw the required plots",
                    str(missing),
                    "Install requirements.txt of the collection on the machine that runs Ansible, or set plots to auto",
                    "no_plots",
                ) from None
            return {}, NO_LIBRARY

    def _write(self, name: str, content: bytes) -> None:
        """Replace a file at once, so that a reader, or a crash, never sees a part of a report."""
        target = self._folder / name
        try:
            handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=self._folder)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(content)
                # The mode of a new file of this user, because a temporary file is readable by its owner only.
                os.chmod(temporary, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
                os.replace(temporary, target)
            except OSError:
                os.unlink(temporary)
                raise
        except OSError as error:
            raise OperatorError(
                str(target),
                "cannot write the report",
                f"The system reports: {error.strerror or error}",
                "Check the permissions and the free space of this folder",
                "not_written",
            ) from None


def _umask() -> int:
    # The system has no call that reads it without setting it.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _inputs(folder: Path) -> dict[str, bytes | None]:
    """{file: bytes or None} of the sources of a report."""
    if not folder.is_dir():
        raise OperatorError(
            str(folder),
            "cannot read the results of a run",
            "This folder does not exist",
            "Set results or compare_with to the folder of a run, or run aiready.vsphere.validate first",
            "no_results",
        )
    return {name: _read(folder / name) for name in (VALIDATION, STAGES)}


def _decoded(folder: str, raw: Mapping[str, bytes | None]) -> dict[str, str | None]:
    texts = {}
    for name, content in raw.items():
        try:
            texts[name] = content.decode() if content is not None else None
        except UnicodeDecodeError as error:
            raise OperatorError(
                f"{folder}/{name}",
                "cannot read the results of a run",
                f"The file is not UTF-8: {error.reason} at byte {error.start}",
                "Run aiready.vsphere.validate again",
                "results_damaged",
            ) from None
    return texts


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OperatorError(
            str(path),
            "cannot read this file",
            f"The system reports: {error.strerror}",
            "Check the permissions of the file",
            "not_read",
        ) from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _said(digest: str | None, content: bytes | None) -> str | None:
    return None if digest is None else f"{len(cast(bytes, content))} bytes, sha256 {digest[:16]}"
