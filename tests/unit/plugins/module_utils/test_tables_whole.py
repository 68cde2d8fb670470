# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

"""Tables of facts that have no test of each entry, as they were read once against their sources."""

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix
from ansible_collections.aiready.vsphere.plugins.module_utils.host.redfish import function_map
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.judge import suite
from ansible_collections.aiready.vsphere.plugins.module_utils.validation.parsers import xid
from ansible_collections.aiready.vsphere.plugins.module_utils.vm.pci import costs

from unit import approved


def line(entry, left_out=()):
    """The fields of an entry in one line, without words for people."""
    if dataclasses.is_dataclass(entry):
        reported = {one.name: getattr(entry, one.name) for one in dataclasses.fields(entry)}
    elif hasattr(entry, "_asdict"):
        reported = entry._asdict()
    else:
        return repr(entry).replace(" ", "")
    return ";".join(f"{key}={value}" for key, value in reported.items() if key not in left_out).replace(" ", "")


TABLES = {
    "branches": {str(branch.number): line(branch, ("number", "source")) for branch in matrix.BRANCHES},
    "releases": {release.name: line(release, ("name",)) for release in matrix.RELEASES},
    "checks": {f"{spec.check}/{spec.variant}": line(spec, ("check", "variant", "title")) for spec in suite.SUITE},
    "between": {"checks": list(suite.BETWEEN), "why": list(suite.NOT_ON)},
    "functions": {
        f"{make} {name}": line(function)
        for make, functions in function_map.MAPS.items()
        for name, function in functions.items()
    },
    "governors": {make: [line(one) for one in governors] for make, governors in function_map.GOVERNORS.items()},
    "xids": {str(number): kind for number, (kind, _means) in xid.MEANINGS.items()},
    "costs": {
        f"{path} {column}": line(getattr(cost, column), ("note", "source"))
        for path, cost in costs.COSTS.items()
        for column in costs.COLUMNS
    },
}


@pytest.mark.parametrize("name", TABLES)
def test_table_is_as_it_was_read(name):
    approved.check(__file__, name, TABLES[name])
