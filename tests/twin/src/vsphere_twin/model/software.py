"""The software of a host: its VIBs and components, and the installer's rules."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field, replace

from . import packages, sources
from . import vib as vibs
from .host import Driver
from .sources import Refused

DONE = "Operation finished successfully."
NEEDS_REBOOT = "The update completed successfully, but the system needs to be rebooted for the changes to be effective."
UNCHANGED = "Host is not changed."
DRY_RUN = "Dryrun only, host not changed. The following installers will be applied: [BootBankInstaller]"
DEFAULT_ACCEPTANCE = "partner"
INSTALLED = datetime.datetime(2024, 6, 25, 12, 0, tzinfo=datetime.timezone.utc)  # the day of every seed's ESXi


@dataclass
class Result:
    """Report of an installation."""

    message: str
    reboot_required: bool = False
    installed: list = field(default_factory=list)
    removed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)
    components_installed: list = field(default_factory=list)
    components_removed: list = field(default_factory=list)
    components_skipped: list = field(default_factory=list)


@dataclass(frozen=True)
class Image:
    """The VIBs and components of one boot bank: {name: Vib}, {name: Component}."""

    vibs: dict
    components: dict


@dataclass
class Software:
    """Installed software of a host, and the software of its next boot."""

    image: Image
    staged: Image | None = None  # the image of the other boot bank, when a reboot is needed
    acceptance_level: str = DEFAULT_ACCEPTANCE
    installed_on: dict = field(default_factory=dict)
    modified: datetime.datetime = INSTALLED  # when the image was changed last

    @property
    def acceptance(self):
        return vibs.LEVELS[self.acceptance_level]

    @property
    def newest(self):
        """The image that changes build upon."""
        return self.staged or self.image

    def vibs(self, rebooting=False):
        """The VIBs by name."""
        image = self.newest if rebooting else self.image
        return [image.vibs[name] for name in sorted(image.vibs, key=str.casefold)]

    def components(self, rebooting=False):
        """The components by name."""
        image = self.newest if rebooting else self.image
        return [image.components[name] for name in sorted(image.components, key=str.casefold)]

    def date_of(self, one):
        """The day on which a VIB was installed."""
        return self.installed_on.get(one.id, INSTALLED.date().isoformat())

    def driver_vib(self):
        """The VIB of an NVIDIA host driver, or None."""
        return next((one for one in self.image.vibs.values() if packages.family_of(one) != "none"), None)


def furnish(world, host, entry):
    """The software that a host of a seed starts with."""
    contents, components = packages.base(host.release)
    software = host.software = Software(_image(contents, components))
    software.acceptance_level = _level(entry.get("acceptance", "PartnerSupported"))
    wanted = [_seeded(one) for one in entry.get("vibs", [])]
    family = entry.get("driver", {"family": "none"})["family"]
    if family != "none" and entry.get("state", "ready") == "ready":
        version = entry["driver"].get("version", host.release.driver)
        wanted.append(packages.driver(family, version, host.release.packages))
    for contents, components in wanted:
        software.image = _with(software.image, contents, components)


def install(world, host, path, *, kind="depot", update=False, dry_run=False):
    """`esxcli software vib install` and `update`: a depot zip or a single VIB, by its path on the host."""
    bundle = sources.bundle(host, path, kind)
    return install_bundle(world, host, bundle, update=update, dry_run=dry_run)


def install_bundle(world, host, bundle, *, update=False, dry_run=False):
    """Install the content of a bundle; all of it or, after a refusal, nothing."""
    software = host.software
    before = software.newest
    chosen, skipped = [], []
    for one in bundle.vibs:
        present = before.vibs.get(one.name)
        newer = present is None or vibs.sort_key(one.version) > vibs.sort_key(present.version)
        # "New VIBs will not be installed, only updates": the help text of `esxcli software vib update`.
        unwanted = update and (present is None or not newer)
        same = present is not None and present.id == one.id
        (skipped if same or unwanted else chosen).append(one)
    ids = {one.id for one in chosen}
    components = [one for one in bundle.components if ids.intersection(one.vibs)]
    after = _with(before, chosen, components)
    _check(host, before, after, chosen)
    removed = [before.vibs[one.name] for one in chosen if one.name in before.vibs]
    result = Result(
        message=UNCHANGED,
        installed=sorted(ids),
        removed=sorted(one.id for one in removed),
        skipped=sorted(one.id for one in skipped),
        components_installed=[one.id for one in components],
        components_removed=[before.components[one.name].id for one in components if one.name in before.components],
        components_skipped=[one.id for one in bundle.components if one not in components],
    )
    return _finish(world, host, after, result, [*chosen, *removed], dry_run)


def remove(world, host, names, dry_run=False):
    """`esxcli software vib remove`: by name, or by the id."""
    before = host.software.newest
    gone = []
    for name in names:
        found = [one for one in before.vibs.values() if name in _names_of(one)]
        if not found:
            raise Refused("NoMatchError", f"No VIB matching VIB search specification '{name}'.")
        gone += found
    lost = {one.id for one in gone}
    components = [one for one in before.components.values() if lost.intersection(one.vibs)]
    after = Image(
        {name: one for name, one in before.vibs.items() if one.id not in lost},
        {name: one for name, one in before.components.items() if one not in components},
    )
    _check(host, before, after, [])
    result = Result(message=UNCHANGED, removed=sorted(lost), components_removed=sorted(one.id for one in components))
    return _finish(world, host, after, result, gone, dry_run)


def remove_components(world, host, names, dry_run=False):
    """`esxcli software component remove`."""
    before = host.software.newest
    vib_names = []
    for name in names:
        if name not in before.components:
            raise Refused("NoMatchError", f"No Component matching search specification '{name}'.")
        vib_names += before.components[name].vibs
    return remove(world, host, vib_names, dry_run)


def set_acceptance(world, host, level):
    """`esxcli software acceptance set`: not stricter than the installed VIBs."""
    short = _level(level)
    for one in host.software.vibs():
        if _rank(one.acceptance) > _rank(short):
            raise Refused("AcceptanceConfigError", _level_text(one, short))
    host.software.acceptance_level = short
    world.touch(host)


def at_boot(host):
    """The host starts from its newest image; the driver that it loads."""
    software = host.software
    software.image, software.staged = software.newest, None
    found = software.driver_vib()
    if found is None:
        return Driver()
    return Driver(packages.family_of(found), found.version.partition("-")[0])


def _image(contents, components):
    return Image({one.name: one for one in contents}, {one.name: one for one in components})


def _with(image, contents, components):
    return Image(
        {**image.vibs, **{one.name: one for one in contents}},
        {**image.components, **{one.name: one for one in components}},
    )


def _seeded(one):
    return packages.named(one if isinstance(one, str) else one["package"])


def _names_of(one):
    """Return the names of a VIB in commands."""
    return one.name, one.id, f"{one.name}:{one.version}", f"{one.vendor}:{one.name}"


def _level(text):
    for short, long in vibs.LEVELS.items():
        if text.casefold() in (short, long.casefold()):
            return short
    known = ", ".join(vibs.LEVELS.values())
    raise Refused("AcceptanceConfigError", f"Invalid acceptance level '{text}'; it must be one of {known}.")


def _rank(acceptance):
    return list(vibs.LEVELS).index(acceptance)


def _check(host, before, after, chosen):
    """The installer's checks, in its order: acceptance, dependencies, conflicts, maintenance mode."""
    limit = host.software.acceptance_level
    for one in chosen:
        if _rank(one.acceptance) > _rank(limit):
            raise Refused("AcceptanceConfigError", _level_text(one, limit))
    offered = packages.interfaces(host.release)
    for one in chosen:
        for name, relation, version in one.requires:
            if not _met(host, offered, name, relation, version):
                wanted = f"{name} {relation} {version}".strip()
                raise Refused(
                    "DependencyError",
                    f"VIB {one.id} requires {wanted} but the requirement cannot be satisfied within the ImageProfile.",
                )
    _check_files(after, chosen)
    coming = [one.id for one in after.vibs.values() if before.vibs.get(one.name) != one and one.maintenance]
    going = [one.id for one in before.vibs.values() if after.vibs.get(one.name) != one and one.maintenance]
    if (coming or going) and not host.maintenance:
        raise Refused(
            "MaintenanceModeError",
            f"MaintenanceMode is required to remove: [{', '.join(going)}]; install: [{', '.join(coming)}].",
        )


def _check_files(after, chosen):
    for one in chosen:
        for other in after.vibs.values():
            for path in one.files if other is not one and not one.overlay else ():
                if path in other.files:
                    raise Refused(
                        "DependencyError",
                        f"File path of '/{path}' is claimed by multiple non-overlay VIBs: "
                        f"{{{', '.join(repr(name) for name in sorted((one.id, other.id)))}}}",
                    )


def _met(host, offered, name, relation, version):
    if name == "esx-version" and relation == ">=":
        return vibs.sort_key(host.release.version) >= vibs.sort_key(version)
    return name in offered


def _level_text(one, limit):
    return (
        f"VIB {one.id}'s acceptance level is {one.acceptance}, which is not compliant with the ImageProfile "
        f"acceptance level {limit}\n"
        "To change the host acceptance level, use the 'esxcli software acceptance set' command."
    )


def _finish(world, host, after, result, moved, dry_run):
    software = host.software
    if not moved:
        return result
    # A live change beside an image that waits for the reboot goes into that image.
    reboot = software.staged is not None or any(not one.live_install for one in moved)
    if dry_run:
        return replace(result, message=DRY_RUN, reboot_required=reboot)
    software.modified = datetime.datetime.now(datetime.timezone.utc)
    today = software.modified.date().isoformat()
    software.installed_on.update(dict.fromkeys(result.installed, today))
    if reboot:
        software.staged = after
        host.reboot_required = True
    else:
        software.image = after
    world.touch(host)
    return replace(result, message=NEEDS_REBOOT if reboot else DONE, reboot_required=reboot)
