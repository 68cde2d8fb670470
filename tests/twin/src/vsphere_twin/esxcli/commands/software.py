"""esxcli software: VIBs, components, the image, and the acceptance level."""

from __future__ import annotations

from vsphere_twin.model import software, sources

from ..command import BOOL, Argument, Refused, Rows, Single, Structure, command
from ..installation import CHECKS, CREATED, DRY, REBOOTING, SIGNATURE, reject_unmodelled, report

VIB_COLUMNS = ("Name", "Version", "Vendor", "Acceptance Level", "Install Date", "Platforms")
_HIDDEN = ("Creation Date", "ID", "Status")
VIB_SUMMARY = Structure("VIBSummaryExt", VIB_COLUMNS, hidden=_HIDDEN, lists=("Platforms",))
# The column of platforms came with the DPUs of 8.0 [unsure: general knowledge].
VIB_SUMMARY_7 = Structure("VIBSummaryExt", VIB_COLUMNS[:-1], hidden=_HIDDEN)
VIB = Structure(
    "VIBExt",
    (
        *("Name", "Version", "Type", "Vendor", "Acceptance Level", "Summary", "Description", "Reference URLs"),
        *("Creation Date", "Depends", "Conflicts", "Replaces", "Provides", "Maintenance Mode Required"),
        *("Hardware Platforms Required", "Live Install Allowed", "Live Remove Allowed", "Stateless Ready", "Overlay"),
        *("Tags", "Payloads", "Platforms"),
    ),
    lists=("Depends", "Conflicts", "Replaces", "Provides", "Tags", "Payloads", "Platforms"),
    hidden=("ID", "Install Date", "Status"),
    header="<ID>",
)
SOURCE = Structure(
    "VIBSummary", ("Name", "Version", "Vendor", "Creation Date", "Acceptance Level", "Status"), hidden=("ID",)
)
PROFILE = Structure(
    "ImageProfile",
    ("Name", "Vendor", "Creation Time", "Modification Time", "Stateless Ready", "Description", "VIBs"),
    types={"Stateless Ready": BOOL},
    lists=("VIBs",),
    header="<Name>",
)
TIME = "%Y-%m-%dT%H:%M:%S"

_DEPOT = Argument("depot", "d", many=True)
_NAMES = Argument("vibname", "n", many=True)
_URLS = Argument("viburl", "v", many=True)


@command("software.vib.list", "Lists the installed VIB packages on the host and the managed DPU(s).", REBOOTING)
def vib_list(world, host, rebootingimage=False):
    structure = VIB_SUMMARY if host.release.at_least(8, 0, 0) else VIB_SUMMARY_7
    return Rows(structure, [_vib_row(host, one) for one in _vibs(host, rebootingimage)], table=True)


@command(
    "software.vib.get",
    "Displays detailed information about one or more installed VIBs on the host and the managed DPU(s).",
    REBOOTING,
    _NAMES,
)
def vib_get(world, host, rebootingimage=False, vibname=()):
    found = _vibs(host, rebootingimage)
    for name in vibname:
        if not any(_is(one, name) for one in found):
            raise Refused("[NoMatchError]", f"No VIB matching VIB search specification '{name}'.", sources.SEE_LOG)
    return Rows(VIB, [_vib_full(host, one) for one in found if not vibname or any(_is(one, name) for name in vibname)])


@command(
    "software.vib.install",
    "Installs VIB packages from a URL or depot. VIBs may be installed, upgraded, or downgraded.",
    _DEPOT, *DRY, *CHECKS, *SIGNATURE, _NAMES, _URLS,
)  # fmt: skip
def vib_install(world, host, depot=(), viburl=(), dryrun=False, **checks):
    return _install(world, host, depot, viburl, dryrun, checks, update=False)


@command(
    "software.vib.update",
    "Update installed VIBs to newer VIB packages. No new VIBs will be installed, only updates.",
    _DEPOT, *DRY, *CHECKS, *SIGNATURE, _NAMES, _URLS,
)  # fmt: skip
def vib_update(world, host, depot=(), viburl=(), dryrun=False, **checks):
    return _install(world, host, depot, viburl, dryrun, checks, update=True)


@command(
    "software.vib.remove",
    "Removes VIB packages from the host.",
    *DRY, *CHECKS, Argument("vibname", "n", many=True, required=True),
)  # fmt: skip
def vib_remove(world, host, vibname, dryrun=False, **checks):
    reject_unmodelled(checks)
    result = software.remove(world, host, vibname, dry_run=dryrun)
    return report("Removal Result", "VIBs", result)


@command(
    "software.sources.vib.list", "List all the VIBs from depots.", Argument("depot", "d", many=True, required=True)
)
def source_list(world, host, depot):
    installed = {one.name: one for one in host.software.vibs()}
    rows = [
        {
            "Name": one.name,
            "Version": one.version,
            "Vendor": one.vendor,
            "Creation Date": CREATED,
            "Acceptance Level": one.level,
            "Status": _status(one, installed.get(one.name)),
            "ID": one.id,
        }
        for path in depot
        for one in sources.bundle(host, path, "depot").vibs
    ]
    return Rows(SOURCE, rows, table=True)


@command("software.profile.get", "Display the installed image profile and list of VIBs in the profile.", REBOOTING)
def profile_get(world, host, rebootingimage=False):
    release = host.release
    profile = {
        "Name": f"(Updated) ESXi-{release.version}-{release.build}-standard",
        "Vendor": "VMware, Inc.",
        "Creation Time": software.INSTALLED.strftime(TIME),
        "Modification Time": host.software.modified.strftime(TIME),
        "Stateless Ready": True,
        "Description": "The host's image.",
        "VIBs": [f"{one.name} {one.version}" for one in _vibs(host, rebootingimage)],
    }
    return Single(PROFILE, profile)


@command("software.acceptance.get", "Gets the host acceptance level.")
def acceptance_get(world, host):
    return host.software.acceptance


@command("software.acceptance.set", "Sets the host acceptance level.", Argument("level", required=True))
def acceptance_set(world, host, level):
    software.set_acceptance(world, host, level)
    return f"Host acceptance level changed to '{host.software.acceptance}'."


def _install(world, host, depots, urls, dry_run, checks, update):
    reject_unmodelled(checks)
    if bool(depots) == bool(urls):
        raise Refused("[CommandError]", "Either a depot or a VIB must be given, and not both.", sources.SEE_LOG)
    kind = "depot" if depots else "vib"
    result = None
    for path in depots or urls:
        plain = path.removeprefix("file://") if urls else path
        result = software.install(world, host, plain, kind=kind, update=update, dry_run=dry_run)
    return report("Installation Result", "VIBs", result)


def _vibs(host, rebooting):
    if rebooting and host.software.staged is None:
        return []
    return host.software.vibs(rebooting)


def _is(vib, name):
    return name in (vib.name, f"{vib.name}:{vib.version}", f"{vib.vendor}:{vib.name}", vib.id)


def _vib_row(host, one):
    return {
        "Name": one.name,
        "Version": one.version,
        "Vendor": one.vendor,
        "Acceptance Level": one.level,
        "Install Date": host.software.date_of(one),
        "Platforms": ["host"],
        "Creation Date": CREATED,
        "ID": one.id,
        "Status": "",
    }


def _vib_full(host, one):
    return {
        **_vib_row(host, one),
        "Type": "bootbank",
        "Summary": one.summary,
        "Description": one.summary,
        "Depends": [" ".join(part for part in requirement if part) for requirement in one.requires],
        "Maintenance Mode Required": str(one.maintenance),
        "Live Install Allowed": str(one.live_install),
        "Live Remove Allowed": str(one.live_install),
        "Stateless Ready": "True",
        "Overlay": str(one.overlay),
        "Payloads": [one.name[:8]],
    }


def _status(one, installed):
    if installed is None:
        return "New"
    if installed.version == one.version:
        return "Installed"
    newer = software.vibs.sort_key(one.version) > software.vibs.sort_key(installed.version)
    return "Update" if newer else "Downgrade"
