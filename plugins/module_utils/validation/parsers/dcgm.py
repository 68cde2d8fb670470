# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Parse the output of `dcgmi diag --json` and `dcgmi health --check --json`. Pure.

DCGM 3 and DCGM 4 name the document, the GPUs and the warnings of a diagnostic differently.
"""

from __future__ import annotations

import re
from typing import Any, Iterator, Mapping

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import text as texts

DIAG, HEALTH = "dcgmi diag", "dcgmi health"
# The name of the document in DCGM 4, and in DCGM 3.
DOCUMENTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
PASSED, FAILED, WARNED, SKIPPED = "pass", "fail", "warn", "skip"
HEALTHY = "Healthy"
# Severity of a finding that is a setting of the guest and no defect of a GPU, such as persistence mode.
OF_SETTING = 5
_ERROR = re.compile(r"\s*Error: (.+)")


@texts.reader(DIAG)
def diag(text: str) -> dict[str, Any]:
    """version, driver, gpus [ids that a test judged], tests [{name, category, status, findings}].

    findings are [{status, gpu, text, setting}]; setting is whether DCGM calls the finding a setting.
    """
    document = texts.from_json(text) or {}
    name = next((one for one in DOCUMENTS if isinstance(document.get(one), dict)), "")
    root = _mapping(document.get(name))
    reason = root.get("runtime_error") or document.get("runtime_error")
    if reason:
        return texts.failed(DIAG, str(reason), text)
    tests = [
        _test(one, str(category.get("category") or ""))
        for category in _mappings(root.get("test_categories"))
        for one in _mappings(category.get("tests"))
    ]
    if not tests:
        error = next((found.group(1) for found in map(_ERROR.match, texts.lines(text)) if found), "")
        return texts.failed(DIAG, error, text) if error else texts.not_understood(DIAG, text)
    metadata = {**root, **_mapping(document.get("metadata"))}
    judged = {gpu for one in tests for gpu in one.pop("judged")}
    return texts.figures(
        version=str(metadata.get("version") or ""),
        driver=str(metadata.get("Driver Version Detected") or metadata.get("driver_version") or ""),
        gpus=sorted(judged),
        tests=tests,
    )


def _test(one: Mapping[str, Any], category: str) -> dict[str, Any]:
    results = _mappings(one.get("results"))
    summary = _mapping(one.get("test_summary"))
    statuses = [_status(result.get("status")) for result in results]
    if summary.get("status"):
        statuses.append(_status(summary["status"]))
    found = [finding for result in [*results, summary] for finding in _findings(result)]
    return {
        "name": str(one.get("name") or "unnamed"),
        "category": category,
        "status": _worst(statuses),
        "findings": found,
        "judged": {
            gpu for result in results if _status(result.get("status")) in (PASSED, FAILED) for gpu in _gpus(result)
        },
    }


def _worst(statuses: list[str]) -> str:
    """The status of a test: a failure counts most. An unknown word and a test without a result never pass."""
    for status in (FAILED, "", WARNED, PASSED):
        if status in statuses:
            return status
    return SKIPPED if statuses else ""


def _status(word: Any) -> str:
    """pass, fail, warn or skip; empty for an unknown word, such as `Not Run`."""
    text = str(word or "").strip().lower()
    return next((one for one in (PASSED, FAILED, WARNED, SKIPPED) if text.startswith(one)), "")


def _findings(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    status = _status(result.get("status"))
    for one in result.get("warnings") or []:
        reported = one if isinstance(one, dict) else {"warning": one}
        yield {
            "status": status,
            "gpu": ", ".join(map(str, _gpus(result))),
            "text": str(reported.get("warning") or "").strip()[: texts.SHOWN],
            "setting": reported.get("error_severity") == OF_SETTING,
        }


def _gpus(result: Mapping[str, Any]) -> list[int]:
    """The GPUs of a result: entity_id in DCGM 4; gpu_ids with commas, or gpu_id, in DCGM 3."""
    if result.get("entity_group") not in (None, "GPU"):
        return []
    named = (str(result[key]).split(",") for key in ("entity_id", "gpu_ids", "gpu_id") if result.get(key) is not None)
    words = next(named, [])
    return [number for number in map(texts.whole, (str(word).strip() for word in words)) if number is not None]


@texts.reader(HEALTH)
def health(text: str) -> dict[str, Any]:
    """overall (Healthy, Warning or Failure), incidents [{what, state, text}]."""
    document = texts.from_json(text)
    body = _mapping((document or {}).get("body"))
    overall = _mapping(body.get("Overall Health")).get("value")
    if not overall:
        error = next((found.group(1) for found in map(_ERROR.match, texts.lines(text)) if found), "")
        return texts.failed(HEALTH, error, text) if error else texts.not_understood(HEALTH, text)
    incidents = [one for name, node in body.items() if name != "Overall Health" for one in _incidents([name], node)]
    return texts.figures(overall=str(overall), incidents=incidents)


def _incidents(path: list[str], node: Any) -> Iterator[dict[str, str]]:
    """The nodes with a state and a text, such as GPU 0, Memory system; other nodes repeat the worst state."""
    reported = _mapping(node)
    children = _mapping(reported.get("children"))
    for name, child in children.items():
        yield from _incidents([*path, str(name)], child)
    if not children and reported.get("value"):
        words = [word for word in path if word != "Errors"]
        said = " ".join(str(one) for one in _list(reported.get("overflow")))
        yield {"what": " ".join(words), "state": str(reported["value"]), "text": said[: texts.SHOWN]}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _mappings(value: Any) -> list[dict[str, Any]]:
    """DCGM 3 writes null between the entries of some lists."""
    return [one for one in _list(value) if isinstance(one, dict)]
