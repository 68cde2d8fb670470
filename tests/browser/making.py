"""Reports of made-up runs, rendered as the module renders them."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

from ansible_collections.aiready.vsphere.plugins.module_utils.core import runner
from ansible_collections.aiready.vsphere.plugins.module_utils.core.changes import Item
from ansible_collections.aiready.vsphere.plugins.module_utils.core.request import request
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.params import ReportRequest
from ansible_collections.aiready.vsphere.plugins.plugin_utils.validation.report.noun import ValidationReport

from browser import broken, runs


class Written(Exception):
    """The module ended without a failure."""


class Module:
    """The part of a module that the runner needs."""

    check_mode = _diff = False

    def exit_json(self, **answer: Any) -> None:
        raise Written

    def fail_json(self, **answer: Any) -> None:
        raise AssertionError(answer["msg"])


def make(top: Path, name: str) -> Path:
    """The folder of a made-up run with its report."""
    earlier = None
    if name == "compared":
        old = runs.perfect(4, fake=True, line=88.0, step=1.08)
        earlier = str(runs.write(top / "before", old, runs.results(old, step=1.08)))
    if name in ("mixed", "compared"):
        run, reported = runs.mixed()
    elif name == "cut-off":
        run, reported = broken.cut_off()
    elif name == "fallback":
        run, reported = broken.fell_back()
    else:
        run = runs.perfect({"perfect": 4, "rehearsal": 4, "large": 64}[name], fake=name == "rehearsal")
        reported = runs.results(run)
    folder = runs.write(top / name, run, reported)
    params = {"results": str(folder), "compare_with": earlier, "plots": "required"}
    item: Item = Item(str(folder), params, {"name": str(folder)})
    with contextlib.suppress(Written):
        runner.run(Module(), ValidationReport(request(ReportRequest, params), print), [item], "report", single=True)
        raise AssertionError("The module did not end.")
    return folder
