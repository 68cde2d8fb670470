"""Gates by name, in their start order: first the shortest ones, then the longest first."""

from __future__ import annotations

import os
from collections.abc import Callable

from gates import environments, forks, rehearsals
from gates.browser import browser
from gates.guests import guests, molecule
from gates.running import BUILD, PYTHON, Gate, environment, tool
from gates.sanity import newest_core, oldest_core, sanity
from gates.tarball import tarball
from gates.tree import clean_copy, shipped
from gates.twin import twin

PURE = ["tests/unit", "tests/house"]
# Tests that try many cases of a rule, or read every file: half of the time of all unit tests. `make test` runs them.
LONG = (
    "tests/house/test_assertions.py",
    "tests/house/test_counts.py",
    "tests/house/test_twin_capacity.py",
    "tests/unit/bench/test_mutations.py",
    "tests/unit/plugins/filter/test_mutants.py",
    "tests/unit/plugins/module_utils/fabric/test_on_switches.py",
    "tests/unit/plugins/module_utils/host/mig/test_planner.py",
    "tests/unit/plugins/module_utils/validation/probe/test_hostile.py",
    "tests/unit/plugins/module_utils/validation/probe/test_whole_reports.py",
    "tests/unit/plugins/module_utils/validation/test_readers_hostile.py",
    "tests/unit/plugins/plugin_utils/site/test_whole.py",
    "tests/unit/plugins/plugin_utils/training/test_hostile.py",
    "tests/unit/plugins/plugin_utils/validation/test_pair_steps.py",
    "tests/unit/plugins/plugin_utils/validation/report/test_report_hostile.py",
    "tests/unit/plugins/plugin_utils/validation/report/test_report_noun.py",
    "tests/unit/plugins/plugin_utils/validation/report/test_report_pages.py",
    "tests/unit/plugins/plugin_utils/validation/report/test_report_plots.py",
    "tests/unit/supervise/test_supervise.py",
)
# Packages with a type for every name; others follow.
TYPED = ["tests/gates", "tests/mutation", "tests/pictures", "tests/rehearse", "tests/supervise", "tests/warm"]
TYPED_PLUGINS = "ansible_collections.aiready.vsphere.plugins"


def ruff(gate: Gate) -> None:
    """Lint and format."""
    gate.call([tool("ruff"), "check", "--no-cache", "."])
    gate.call([tool("ruff"), "format", "--no-cache", "--check", "."])


def vermin(gate: Gate) -> None:
    """Python 3.8 syntax in all plugins, also where no Python 3.8 is at hand for sanity."""
    gate.call([tool("vermin"), "--quiet", "--no-tips", "--target=3.8-", "--violations", "plugins"])


def types(gate: Gate) -> None:
    """Types of the packages that have them."""
    mypy = [tool("mypy"), "--cache-dir", str(BUILD / "mypy")]
    gate.call([*mypy, "--config-file", "tests/gates/mypy.ini", *TYPED])
    gate.call([*mypy, "--config-file", "tests/gates/mypy_plugins.ini", "--package", TYPED_PLUGINS])


def ansible_lint(gate: Gate) -> None:
    """Run profile production on a copy: the tool reads everything it finds and installs what it tests.

    It has no rule for Python, but searches each Python file for the examples of a plugin. Those of tests have none.
    """
    copy = clean_copy("lint", lambda path: shipped(path) or path.suffix != ".py")
    # It adds folders without collections to the path of collections.
    with forks.playbooks(environment(), BUILD / "lint" / "bin", varying=("ANSIBLE_COLLECTIONS_PATH",)) as env:
        gate.call([tool("ansible-lint"), "--offline", "--nocolor", "."], copy, env)


def changelog(gate: Gate) -> None:
    """Fragments and configuration."""
    gate.call([tool("antsibull-changelog"), "lint"])


def docs(gate: Gate) -> None:
    """Pages of plugins and roles, and the references between them."""
    copy = clean_copy("docs-copy")
    env = environment(ANSIBLE_COLLECTIONS_PATH=str(BUILD / "docs-copy"))
    checks = ["--plugin-docs", "--validate-collection-refs", "self", "--check-extra-docs-refs"]
    gate.call([tool("antsibull-docs"), "lint-collection-docs", *checks, "."], copy, env)


def tests(gate: Gate) -> None:
    """Unit, lists, over the wire, playbooks: one pytest, so that its workers share the work."""
    gate.pytest(PYTHON, [*_side_by_side(), *PURE, "tests/wire", "tests/e2e"])


def unit(gate: Gate) -> None:
    """Run the tests that start no server."""
    gate.pytest(PYTHON, [*_side_by_side(), *PURE])


def quick(gate: Gate) -> None:
    """Run the tests that start no server, without the long ones."""
    gate.pytest(PYTHON, [*_side_by_side(), *(f"--ignore={file}" for file in LONG), *PURE])


def _side_by_side() -> list[str]:
    return ["-n", str(os.cpu_count() or 2), "--dist", "worksteal"]


Gates = dict[str, Callable[[Gate], None]]
# Parts of other gates, for those who want an answer at once.
PARTS: Gates = {"unit": unit, "quick": quick, "environment-image": environments.image}
GATES: Gates = {
    "ruff": ruff,
    "vermin": vermin,
    "changelog": changelog,
    "types": types,
    "tests": tests,
    "guests": guests,
    "molecule": molecule,
    "oldest-core": oldest_core,
    "sanity": sanity,
    "ansible-lint": ansible_lint,
    "newest-core": newest_core,
    "twin": twin,
    "browser": browser,
    "docs": docs,
    "tarball": tarball,
    "environment": environments.needs,
}
# Beside the gates in .ci/run: they begin as gates end, so that no processor is idle.
REHEARSALS: Gates = {
    "rehearsal": rehearsals.site,
    "rehearsal-directpath": rehearsals.directpath,
    "rehearsal-kubernetes": rehearsals.kubernetes,
}
GROUPS = {"all": GATES, "rehearsals": REHEARSALS}
