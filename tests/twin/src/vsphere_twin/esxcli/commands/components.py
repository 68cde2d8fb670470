"""esxcli software component."""

from __future__ import annotations

from vsphere_twin.model import software, sources

from ..command import Argument, Refused, Rows, Structure, command
from ..installation import CHECKS, CREATED, DRY, REBOOTING, SIGNATURE, reject_unmodelled, report

COMPONENT = Structure(
    "ComponentSummaryExt",
    (
        "Name",
        "Display Name",
        "Version",
        "Display Version",
        "Vendor",
        "Creation Date",
        "Acceptance Level",
        "Status",
        "Platforms",
    ),
    lists=("Platforms",),
    hidden=("ID",),
)
COMPONENT_FULL = Structure(
    "ComponentExt",
    (
        *("Name", "Display Name", "Version", "Display Version", "Vendor", "Acceptance Level", "Summary", "Description"),
        *("Release Type", "VIBs", "Platforms"),
    ),
    lists=("VIBs", "Platforms"),
    hidden=("ID",),
    header="<ID>",
)


@command("software.component.list", "List the installed components on the host.", REBOOTING)
def component_list(world, host, rebootingimage=False):
    rows = [
        {
            "Name": one.name,
            "Display Name": one.display_name,
            "Version": one.version,
            "Display Version": one.display_version or one.version.partition("-")[0],
            "Vendor": one.vendor,
            "Creation Date": CREATED,
            "Acceptance Level": software.vibs.LEVELS[one.acceptance],
            "Status": "Installed",
            "Platforms": ["host"],
            "ID": one.id,
        }
        for one in host.software.components(rebootingimage)
    ]
    return Rows(COMPONENT, rows, table=True)


@command(
    "software.component.get",
    "Displays detailed information about one or more installed components on the host.",
    Argument("component", "n", many=True),
    REBOOTING,
)
def component_get(world, host, component=(), rebootingimage=False):
    found = host.software.components(rebootingimage)
    for name in component:
        if all(one.name != name for one in found):
            raise Refused("[NoMatchError]", f"No Component matching search specification '{name}'.", sources.SEE_LOG)
    rows = [
        {
            "Name": one.name,
            "Display Name": one.display_name,
            "Version": one.version,
            "Display Version": one.display_version or one.version.partition("-")[0],
            "Vendor": one.vendor,
            "Acceptance Level": software.vibs.LEVELS[one.acceptance],
            "Summary": one.display_name,
            "Description": one.display_name,
            "Release Type": "general",
            "VIBs": list(one.vibs),
            "Platforms": ["host"],
            "ID": one.id,
        }
        for one in found
        if not component or one.name in component
    ]
    return Rows(COMPONENT_FULL, rows)


@command(
    "software.component.apply",
    "Installs Component packages from a depot. Components may be installed, upgraded, or downgraded.",
    Argument("component", "n", many=True),
    Argument("depot", "d", many=True, required=True),
    *DRY, *CHECKS, *SIGNATURE,
)  # fmt: skip
def component_apply(world, host, depot, dryrun=False, **checks):
    reject_unmodelled(checks)
    result = None
    for path in depot:
        bundle = sources.bundle(host, path, "depot")
        if not bundle.components:
            raise Refused("[ComponentConfigError]", f"There is no Component in the depot {path}.", sources.SEE_LOG)
        result = software.install_bundle(world, host, bundle, dry_run=dryrun)
    return report("Installation Result", "Components", result)


@command(
    "software.component.remove",
    "Removes components from the host.",
    Argument("component", "n", many=True, required=True),
    *DRY, *CHECKS,
)  # fmt: skip
def component_remove(world, host, component, dryrun=False, **checks):
    reject_unmodelled(checks)
    result = software.remove_components(world, host, component, dry_run=dryrun)
    return report("Removal Result", "Components", result)
