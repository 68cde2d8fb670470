"""What a capture says about a rule: confirmed, refuted or undetermined, and by which object."""

from __future__ import annotations

from dataclasses import dataclass, field

from vsphere_twin import rules

CONFIRMED, REFUTED, UNDETERMINED = "confirmed", "refuted", "undetermined"
# Objects that a report names for each rule.
MOST = 10


@dataclass(frozen=True)
class Finding:
    """One object that confirms or refutes a rule, with the values; or what is missing to decide."""

    says: str
    object: str
    values: str


def confirms(name, values):
    return Finding(CONFIRMED, name, values)


def refutes(name, values):
    return Finding(REFUTED, name, values)


def lacks(what):
    """Evidence that a capture does not have."""
    return Finding(UNDETERMINED, "", what)


def either(right, name, values):
    return confirms(name, values) if right else refutes(name, values)


@dataclass
class Verdict:
    """The result for one rule."""

    rule: str
    number: int
    sentence: str
    result: str = UNDETERMINED
    objects: list[Finding] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    evidence: str = ""
    rows: list[dict] = field(default_factory=list)

    @property
    def sources(self):
        """The rows of the twin's tables that depend on the rule, each with its source."""
        return [f"{row['id']} ({row['source']})".replace("*", "") for row in self.rows]

    def as_data(self, with_objects=True):
        data = {"rule": self.rule, "number": self.number, "sentence": self.sentence, "result": self.result}
        if self.objects:
            if with_objects:
                data["objects"] = [{"object": one.object, "values": one.values} for one in self.objects[:MOST]]
            data["count"] = len(self.objects)
        if self.missing:
            data["missing"] = self.missing
        if self.result == REFUTED:
            data["evidence"] = self.evidence
            data["rows"] = [{key: row[key] for key in ("id", "source", "mark")} for row in self.rows]
        return data


def judged(rule, findings):
    """One counter-example refutes. Without one, one example confirms. Nothing proves nothing."""
    found = list(findings)
    rows = rules.by_id()
    made = Verdict(
        rule["id"],
        rule["number"],
        rule["rule"],
        evidence=rule["evidence"].replace("`", ""),
        rows=[rows[one] for one in rule["rules"]],
    )
    for result in (REFUTED, CONFIRMED):
        made.objects = [one for one in found if one.says == result]
        if made.objects:
            made.result = result
            return made
    made.missing = sorted({one.values for one in found}) or [f"no example of {made.evidence}"]
    return made
