"""One description of RoCE changes a fabric of several makes safely, from end to end.

That six makes of the factory become lossless, as announced, and a second run changes nothing, is what
`make rehearse CHECKS=all` shows.
"""

from __future__ import annotations

from .fabric import OTHER, configurations, lossless_for, mark, ways, why

GOOD = {(True, True, True, True)}
# A way from host to host.
SWITCHES = ("spine-01", "leaf-01", "leaf-03")


def test_lossy_to_lossless_of_another_priority_and_back_and_removed(fabric_lab):
    lab = fabric_lab(SWITCHES)

    def become(*arguments, **roce):
        # The twin reports what the ways do; the stage's own comparison is looked at elsewhere.
        run = lab.fabric(*arguments, site={"roce": roce, "fabric": {"serial": "100%", "agreement": "skip"}})
        assert run.status == 0, run.output
        return run

    become(mode="lossy")
    assert lossless_for(lab) == dict.fromkeys(SWITCHES)
    # Packets are marked already, and notifications go first.
    assert {way[1:] for way in ways(lab)} == {(True, True, True)}, why(lab)
    mark(lab, **OTHER)
    become(mode="lossless", **OTHER)
    assert (lossless_for(lab), ways(lab)) == (dict.fromkeys(SWITCHES, (OTHER["priority"],)), GOOD), why(lab)
    become(mode="lossy", **OTHER)
    assert lossless_for(lab) == dict.fromkeys(SWITCHES)
    become("--extra-vars", "switch_state=absent", **OTHER)
    # Nothing of ours is left, whatever a make has by itself.
    assert lossless_for(lab) == dict.fromkeys(SWITCHES)
    assert [name for name, texts in configurations(lab).items() if "aiready" in "".join(texts).lower()] == []
    assert become("--extra-vars", "switch_state=absent", **OTHER).changed == 0
