"""VLANs of a port (IEEE 802.1Q): the one of untagged frames, and the ones that it carries tagged."""

from __future__ import annotations

from dataclasses import dataclass

from .phrases import numbers

EVERY = frozenset(range(1, 4095))
UNTAGGED = 0


@dataclass(frozen=True)
class Lan:
    """VLANs of a port that exist on its switch. A routed port has none."""

    untagged: int | None = None
    tagged: frozenset = frozenset()

    def enters(self, tag):
        """Return the VLAN of an incoming frame with a tag, or UNTAGGED; None if it is dropped."""
        if tag == UNTAGGED:
            return self.untagged
        return tag if tag in self.tagged or tag == self.untagged else None

    def leaves(self, vlan):
        """The tag with which a frame of a VLAN goes out; None where it does not."""
        if vlan is not None and vlan == self.untagged:
            return UNTAGGED
        return vlan if vlan in self.tagged else None


def access(vlan, existing):
    """A port in one VLAN."""
    return Lan(vlan if vlan in existing else None)


def trunk(native, allowed, existing):
    """A port that carries many; its native one only where it is allowed too."""
    carried = allowed & existing
    return Lan(native if native in carried else None, carried - {native})


def vlans(text):
    """The VLANs of `111,200-299`, all or none; ValueError for anything else."""
    words = text.strip().lower()
    return (
        {"all": EVERY, "none": frozenset()}.get(words)
        if words in ("all", "none")
        else frozenset(numbers(words.replace(" ", ""), 1, 4094))
    )


def allowed_after(before, word, text):
    """The allowed VLANs after `allowed vlan [add|remove|except] LIST`."""
    reported = vlans(text)
    return {"add": before | reported, "remove": before - reported, "except": EVERY - reported}.get(word or "", reported)
