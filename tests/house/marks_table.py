"""The tables of names, thresholds and rules in docs/validation.md, generated from the validation.

`PYTHONPATH=tests:.build/collections python -m house.marks_table` writes them.
"""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import reference, suite, thresholds
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge.found import short

from .role_readme import ROOT, renewed

PAGE = ROOT / "docs" / "validation.md"
BEGIN, END = "<!-- marks: made by tests/house/marks_table.py -->", "<!-- end of marks -->"
REFERENCES, ENDED = "<!-- references: made by tests/house/marks_table.py -->", "<!-- end of references -->"
BASES = {"line": "of the line", "rdma": "of RDMA between the same guests"}


def tables() -> str:
    return "\n".join([*_marks(), "", *_rules()])


def page() -> str:
    """The page as it should be."""
    text = renewed(PAGE, tables(), BEGIN, END)
    before, _begin, rest = text.partition(REFERENCES)
    return f"{before}{REFERENCES}\n" + "\n".join(_references()) + f"\n{ENDED}{rest.partition(ENDED)[2]}"


def names() -> list[str]:
    """A row for each check with its name in the report, as the page has it."""
    titles = {spec.check: [one for one in suite.SUITE if one.check == spec.check] for spec in suite.SUITE}
    return [
        f"| `{check}` | {', '.join(suite.title(one, {'mtu': 9000}) for one in some)} |"
        for check, some in titles.items()
    ]


def _marks() -> Iterator[str]:
    yield "| Check | Threshold | Applies to | If missed | Source |"
    yield "|---|---|---|---|---|"
    for mark in thresholds.MARKS:
        limits = [
            f"{word} {_limit(mark, value)}"
            for word, value in (("at least", mark.low), ("at most", mark.high))
            if value is not None
        ]
        verdict = "fails" if mark.fails else "warns"
        yield f"| `{mark.check}` | {', '.join(limits)} | {', '.join(_where(mark))} | {verdict} | {mark.source} |"


def _limit(mark, value: float) -> str:
    if mark.share:
        return f"{short(100 * value)} % {BASES[mark.share]}"
    spec = next(one for one in suite.SUITE if one.check == mark.check)
    return f"{short(value)} {spec.unit}"


def _where(mark) -> Iterator[str]:
    yield from (f"`{path}`" for path in mark.paths)
    if mark.speeds:
        yield " or ".join(str(one) for one in mark.speeds) + " Gb/s"
    yield from (f"`{one}`" for one in mark.variants)
    yield from mark.gpus
    if mark.ranks:
        yield f"{mark.ranks} ranks"


def _rules() -> Iterator[str]:
    yield "| Rule | Defaults | Source |"
    yield "|---|---|---|"
    for name, rule in thresholds.RULES.items():
        values = {key: value for key, value in rule.items() if key != "source"}
        yield f"| `{name}` | {_values(values)} | {rule['source']} |"
    for check, rules in thresholds.CHECK_RULES.items():
        for name, rule in rules.items():
            yield f"| `{name}` of `{check}` | {_values(rule)} | it depends on the current CPU load |"
    for name, rule in thresholds.CPU_RULES.items():
        yield f"| `{name}` of trainings without GPUs | {_values(rule)} | guests may share CPUs |"


def _references() -> Iterator[str]:
    yield "| Measure | GPU | Figure | Layout | Image, model | Source | Mark |"
    yield "|---|---|---|---|---|---|---|"
    for one in reference.REFERENCES:
        unit = UNITS[one.measure]
        layout = f"{one.guests} x {one.gpus} GPUs"
        if one.measure == reference.TOKENS:
            layout += ", not compared: no training of the collection reports tokens/s"
        if one.measure == reference.BUS and one.guests > 1:
            layout += f", {short(one.network)} Gb/s each" if one.network else ", network not stated: not compared"
        batch = f"batch {one.batch}" if one.batch else ""
        trained = ", ".join(filter(None, (f"`{one.image}`" if one.image else "", one.model, batch)))
        figure = f"{one.value:g} {unit}"
        yield f"| {one.measure} | {one.gpu} | {figure} | {layout} | {trained} | {one.source} | {one.mark} |"
    yield f"| {reference.TOKENS} | all others | {reference.NONE} |  |  | no source states GPU, image and model |  |"


UNITS = {reference.IMAGES: "img/s per GPU", reference.TOKENS: "tokens/s per GPU", reference.BUS: "GB/s"}


def _values(values: dict) -> str:
    return ", ".join(f"`{key}: {'none' if value is None else short(value)}`" for key, value in values.items())


if __name__ == "__main__":
    PAGE.write_text(page())
