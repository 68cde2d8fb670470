"""Common options and report of the commands that install or remove software."""

from __future__ import annotations

from .command import BOOL, Argument, Refused, Single, Structure

DRY = (Argument("dry-run", type=BOOL, flag=True),)
CHECKS = (
    Argument("force", "f", type=BOOL, flag=True),
    Argument("maintenance-mode", type=BOOL, flag=True),
    Argument("no-live-install", type=BOOL, flag=True),
)
SIGNATURE = (Argument("no-sig-check", type=BOOL, flag=True), Argument("proxy"))
REBOOTING = Argument("rebooting-image", type=BOOL, flag=True)
CREATED = "2024-04-04"
HARMLESS = ("proxy",)


def reject_unmodelled(options):
    """Reject options that bypass the installer's checks or select a part of a depot: they are not modelled."""
    for name, given in options.items():
        if given and name not in HARMLESS:
            raise Refused("[NotSupported]", f"The twin installs nothing with {name}.")


def report(header, moved, result):
    """The report of an installation or removal of VIBs or components."""
    labels = ("Message", f"{moved} Installed", f"{moved} Removed", f"{moved} Skipped", "Reboot Required", "DPU Results")
    structure = Structure(
        "InstallationResult",
        labels,
        types={"Reboot Required": BOOL},
        lists=(*labels[1:4], "DPU Results"),
        header=header,
    )
    prefix = "components_" if moved == "Components" else ""
    lists = [getattr(result, f"{prefix}{what}") for what in ("installed", "removed", "skipped")]
    values = (result.message, *lists, result.reboot_required, [])
    return Single(structure, dict(zip(labels, values, strict=True)))
