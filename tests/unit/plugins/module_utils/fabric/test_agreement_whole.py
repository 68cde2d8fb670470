# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""All that is found of each mistake in a fabric, as it was approved."""

from __future__ import annotations

import pytest

from unit import approved

from .agreement_lab import Lab
from .agreement_mistakes import MISTAKES


def asked(change=None, **options):
    lab = Lab()
    if change:
        change(lab)
    return lab.ask(**options)


def test_the_whole_answer_of_a_good_fabric():
    approved.check(__file__, "good", asked())


@pytest.mark.parametrize("change", [pytest.param(case.values[0], id=case.id) for case in MISTAKES])
def test_all_that_a_mistake_changes_in_the_answer(change, request):
    approved.check(__file__, request.node.callspec.id, asked(change), asked())
