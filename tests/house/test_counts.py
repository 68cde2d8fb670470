"""What house.counts prints of a checkout."""

from __future__ import annotations

from house.collection import ROOT
from house.counts import counts


def test_the_counts_of_the_collection_are_printed():
    found = counts(ROOT)
    print(*(f"{number:>8}  {what}" for what, number in found.items()), sep="\n")
    assert found["functions"] >= found["functions with all types"] > 0
    assert found["files of module_utils"] >= found["files of module_utils that a module imports, median"] > 0
