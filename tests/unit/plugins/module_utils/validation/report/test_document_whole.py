# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""The document of a report, which its page and its plots are made of, as approved."""

from __future__ import annotations

from ansible_collections.aiready.vsphere.plugins.module_utils.validation.report.document import document

from browser import broken, runs
from unit import approved


def made(run, reported, **more):
    return document(reported, {"stages": runs.stages(run)}, **more)


def shortened(found):
    """The document with one row of each check, and each entry of a list in one line."""
    for layer in found["ladder"]:
        for check in layer["checks"]:
            check["rows"] = [f"{len(check['rows'])} rows", *check["rows"][:1]]
    return entries({**found, "ladder": {layer["layer"]: layer for layer in found["ladder"]}})


def entries(found):
    if isinstance(found, dict):
        return {key: entries(one) for key, one in found.items()}
    return [one_line(one) for one in found] if isinstance(found, list) else found


def one_line(entry):
    """Keys and values of an entry, of sentences their facts, without what is empty."""
    reported = {path: value for path, value in approved.leaves(entry) if value not in (None, "", [], 0, False)}
    return ";".join(f"{path}={value}" for path, value in reported.items()).replace(" ", "_").replace("'", "")


def test_document_of_a_run_in_which_much_is_wrong():
    approved.check(__file__, "mixed", shortened(made(*runs.mixed())))


def test_document_of_a_guest_that_was_cut_off_and_of_a_path_that_fell_back():
    run = runs.perfect(4)
    base = shortened(made(run, runs.results(run)))
    for name, (other, reported) in (("cut off", broken.cut_off()), ("fell back", broken.fell_back())):
        approved.check(__file__, name, shortened(made(other, reported)), base)


def test_comparison_with_an_earlier_run():
    run = runs.perfect(2)
    earlier = made(run, runs.results(run))
    slower = runs.perfect(2, line=80.0, step=1.3)
    reported = runs.results(slower, step=1.3)
    approved.check(__file__, "compared", entries(made(slower, reported, earlier=earlier)["comparison"]))
