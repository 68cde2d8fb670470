# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Findings on the site, secrets, vCenter, privileges, clocks, addresses, disks and guests. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ansible_collections.aiready.vsphere.plugins.module_utils.guest.driver import source
from ansible_collections.aiready.vsphere.plugins.module_utils.host.driver import matrix
from ansible_collections.aiready.vsphere.plugins.module_utils.vcenter import release as releases
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.compatibility import SHARED, host_driver
from ansible_collections.aiready.vsphere.plugins.plugin_utils.preflight.finding import (
    AGAIN,
    BLOCKS,
    OK,
    OPEN,
    Finding,
    failed,
    refusal,
    sentence,
)
from ansible_collections.aiready.vsphere.plugins.plugin_utils.site import guests as site_guests
from ansible_collections.aiready.vsphere.plugins.plugin_utils.stages import repository_keys

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

# Site keys of the objects whose privileges are checked.
KEYS = {
    "cluster": "site.cluster",
    "folder": "site.machine.folder",
    "network": "site.network.portgroup",
    "vm": "site.machine.template",
}


def site(problems: Sequence[str], secrets: Iterable[Sequence[Any]]) -> Iterator[Finding]:
    """Findings on the site, and on the secrets that it needs; a secret is never shown."""
    for problem in problems:
        subject, colon, rest = problem.partition(": ")
        found, dot, todo = (rest if colon else problem).partition(". ")
        yield Finding("site", "site", subject if colon else "site", BLOCKS, sentence(found), "", todo or "Correct it.")
    if not problems:
        yield Finding("site", "site", "settings", OK, "The settings are consistent.")
    for where, what, there, todo in secrets:
        if there:
            yield Finding("secrets", where, what, OK, "It is set.")
        else:
            yield Finding("secrets", where, what, BLOCKS, "It is missing.", "", todo)


def plain(secrets: Iterable[Sequence[str]]) -> Iterator[Finding]:
    """Secrets that a file contains in plain text."""
    for name, where in secrets:
        file = where.rpartition(", line ")[0]
        found = f"It is in plain text in {where}."
        yield Finding("secrets", "inventory", name, OPEN, found, todo=f"Run: ansible-vault encrypt {file}")


def needs(missing: Sequence[Mapping[str, Any]] | None) -> Iterator[Finding]:
    """Findings on missing parts of the controller, from the filter controller_needs; None if it was not checked."""
    if missing is None:
        return
    for one in missing:
        state = BLOCKS if one["blocks"] else OPEN
        yield Finding("controller", "this machine", one["what"], state, one["found"], "", one["todo"])
    if not any(one["blocks"] for one in missing):
        yield Finding("controller", "this machine", "collections and libraries", OK, "Nothing is missing.")


def broken(parts: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    """Findings on values that cannot be evaluated on the controller, such as a variable that is not defined."""
    for one in parts:
        text = " ".join(str(one["why"]).split())
        todo = "Correct it in the inventory, and run preflight again."
        yield Finding("site", one["where"], "settings", BLOCKS, sentence(f"They cannot be evaluated. {text}"), "", todo)


def different(hosts: Mapping[str, Iterable[str]], switches: Iterable[str]) -> Iterator[Finding]:
    """Findings on the settings of single hosts and switches."""
    reported = [(name, problem) for name, problems in hosts.items() for problem in problems]
    reported += [problem.partition(": ")[::2] for problem in switches]
    for name, problem in reported:
        subject, colon, rest = problem.partition(": ")
        found, dummy, todo = (rest if colon else problem).partition(". ")
        yield Finding("site", name, subject if colon else "site", BLOCKS, sentence(found), "", todo or "Correct it.")


def vcenter(answer: Mapping[str, Any] | None, asked: Mapping[str, Any], limits: Mapping[str, int]) -> Iterator[Finding]:
    """Findings on the login, versions, privileges and clocks."""
    if asked["problems"]:
        return
    if not answer or answer.get("skipped"):
        yield Finding("vcenter", "vCenter", "login", OPEN, "It was not checked.", todo=AGAIN)
        return
    if failed(answer) or "vcenter" not in answer:
        yield refusal("vcenter", "vCenter", "login", answer)
        return
    about = answer["vcenter"]
    name = about["name"]
    yield Finding("vcenter", name, "login", OK, f"{about['user']} can log in; the version is {about['version']}.")
    yield from _releases([about, *answer["hosts"]])
    if not about["is_vcenter"]:
        todo = "Set site.vcenter.hostname to the vCenter that manages the hosts."
        yield Finding("vcenter", name, "kind", BLOCKS, "It is an ESXi host.", "A vCenter.", todo)
    for stranger in answer["strangers"]:
        found = "vCenter does not have this host, or this user may not see it."
        todo = "Correct the name in the group esxi_hosts, add the host to vCenter, or give the user access to it."
        yield Finding("hosts", stranger, "host", BLOCKS, found, "", todo)
    yield from _privileges(answer["objects"], asked["privileges"], about["user"], about["version"])
    yield from _clock(name, about["clock_ahead_s"], limits["clock_s"], "vCenter")
    for host in answer["hosts"]:
        if host["clock_ahead_s"] is None:
            yield Finding("clocks", host["name"], "clock", OPEN, host["why_no_clock"], todo=AGAIN)
        else:
            yield from _clock(host["name"], host["clock_ahead_s"], limits["clock_s"], "the host")
    for store in answer["datastores"]:
        if not store["accessible"]:
            todo = "Repair the datastore, or name another one."
            yield Finding("disk", store["name"], "datastore", OPEN, "It is not accessible.", todo=todo)
        else:
            found = f"{store['free_gb']} of {store['capacity_gb']} GB are free."
            yield Finding("disk", store["name"], "datastore", OK, found)


def _releases(parts: Iterable[Mapping[str, Any]]) -> Iterator[Finding]:
    """Findings on releases that this collection does not know yet: neither passed nor failed."""
    for one in parts:
        if releases.is_newer(one.get("version")):
            yield Finding(
                "vcenter",
                one["name"],
                "release",
                OPEN,
                f"It has vSphere {one['version']}, which is newer than the tested releases.",
                f"vSphere {releases.NEWEST} or older.",
                "Read the release notes of this vSphere release, and test one host first.",
            )


def _privileges(
    objects: Iterable[Mapping[str, Any]], needs: Sequence[Mapping[str, Any]], user: str, version: str | None
) -> Iterator[Finding]:
    held, release = 0, releases.numbers(version or "")
    # An earlier vCenter does not have the privilege.
    needs = [need for need in needs if not release or release >= tuple(need.get("since") or ())]
    for one in objects:
        where = " ".join(part for part in (one["kind"], one["name"]) if part)
        mine = [need for need in needs if (need["kind"], need["name"]) == (one["kind"], one["name"])]
        if not one["found"]:
            todo = f"Correct {_key(one['kind'], mine)}, or give {user} access to it."
            yield Finding(
                "privileges",
                where,
                "object",
                BLOCKS,
                "vCenter has no object of this name, or this user may not see it.",
                "",
                todo,
            )
            continue
        held += len({need["privilege"] for need in mine} - set(one["missing"]))
        for privilege in one["missing"]:
            there = [need for need in mine if need["privilege"] == privilege]
            if not there:
                continue
            reasons = dict.fromkeys(f"{need['why']} (stage {need['stage']})" for need in there)
            without = " ".join(dict.fromkeys(need["without"] for need in there if need.get("without")))
            found = f"{user} does not hold {privilege}, needed for {' and '.join(reasons)}. {without}".strip()
            todo = "Add it to the user's role there, or give the user a role that has it, with propagation."
            yield Finding("privileges", where, privilege, OPEN if without else BLOCKS, found, "", todo)
    if held:
        yield Finding("privileges", user, "privileges", OK, f"{held} privileges that the stages need are held.")


def _key(kind: str, needs: Iterable[Mapping[str, Any]]) -> str:
    """The site key of an object; that of a datastore depends on the stage that needs it."""
    if kind == "datastore":
        stages = dict.fromkeys(need["stage"] for need in needs)
        return " and ".join({"hosts": "site.driver.datastore"}.get(stage, "site.machine.datastore") for stage in stages)
    return KEYS.get(kind, "the name in the site")


def _clock(where: str, ahead_s: float, limit_s: int, whose: str) -> Iterator[Finding]:
    if abs(ahead_s) <= limit_s:
        yield Finding(
            "clocks", where, "clock", OK, f"It differs from this machine's clock by at most {limit_s} seconds."
        )
        return
    way = "ahead of" if ahead_s > 0 else "behind"
    found = f"It is {abs(ahead_s):.0f} seconds {way} this machine's clock."
    todo = f"Configure an NTP server for {whose} that this machine also uses, and wait for the synchronisation."
    yield Finding("clocks", where, "clock", BLOCKS, found, f"At most {limit_s} seconds.", todo)


def compatibility(
    requested: Mapping[str, Any] | None, previews: Mapping[str, Mapping[str, Any] | None]
) -> Iterator[Finding]:
    """Whether the drivers of guests and hosts are compatible, with the planned host driver."""
    if not requested or "guests" not in site_guests.stages(requested):
        return
    site, guests = site_guests.of_stage(requested, "guests")
    driver = guests["driver"]
    # The driver of a whole GPU runs in the guest alone.
    if not driver or site["gpu"]["mode"] not in SHARED:
        return
    guest = driver["version"] or source.of(driver["package"], driver["source"]).version
    if not guest:
        todo = "Set site.guests.driver.version, so that preflight can compare it."
        yield Finding(
            "compatibility", "guests", "driver", OPEN, "The name of the package contains no version.", todo=todo
        )
        return
    versions: dict[str, list[str]] = {}
    for name, preview in previews.items():
        versions.setdefault(host_driver(preview or {}), []).append(name)
    for version, names in versions.items():
        where = ", ".join(sorted(names))
        if not version:
            found = f"The host driver is not known yet; the guests get {guest}."
            yield Finding("compatibility", where, "driver of host and guests", OPEN, found, todo=AGAIN)
            continue
        verdict = matrix.guest_allowed(version, guest)
        found = f"The host driver is {version}, the guest driver {guest}. {verdict.reason}"
        if verdict.allowed:
            yield Finding("compatibility", where, "driver of host and guests", OK, found)
        else:
            branches = " or ".join(f"R{number}" for number in matrix.guest_branches(version)) or "another branch"
            todo = f"Use a guest driver of {branches}, or another host driver."
            yield Finding("compatibility", where, "driver of host and guests", BLOCKS, found, "", todo)


def controller(
    answer: Mapping[str, Any] | None,
    asked: Mapping[str, Any],
    limits: Mapping[str, int],
    inside: Iterable[Sequence[Any]] = (),
) -> Iterator[Finding]:
    """Findings on the connections and disks of the controller; inside are the answers of guests."""
    if asked["problems"]:
        return
    if not answer:
        yield Finding("addresses", "this machine", "addresses", OPEN, "They were not checked.", todo=AGAIN)
        return
    if failed(answer) or "time" not in answer:
        yield refusal("addresses", "this machine", "addresses", answer)
        return
    heard = {one["url"] for _name, reported, *_times in inside for one in (reported or {}).get("addresses") or ()}
    yield from _reached("this machine", answer, asked, heard)
    yield from _disks(
        "this machine", answer["disks"], limits["controller_gb"], "Free space there, or name another folder."
    )


def _reached(
    where: str, answer: Mapping[str, Any], asked: Mapping[str, Any], heard: Collection[str] | None = None
) -> Iterator[Finding]:
    """Findings on addresses; heard: addresses that guests check themselves, None for the findings of a guest."""
    for requested, one in zip(asked["addresses"], answer["addresses"]):
        what = f"{requested['what']} at {one['url']}"
        found = f"{one['why']} The request came from {where}."
        if "fingerprints" in requested and not one["reached"]:
            found += " Its key was not compared with the expected fingerprints."
        if one["reached"]:
            yield _answers(where, what, requested, one)
        elif heard is not None and requested["who"] == "guests" and one["url"] in heard:
            continue
        elif heard is not None and requested["who"] == "guests" and one["code"] == "certificate":
            # The guests load it, and may trust an authority that this machine does not trust.
            yield Finding(
                "addresses",
                where,
                what,
                OPEN,
                found,
                todo="Run preflight again once the guests run, which check it themselves.",
            )
        else:
            todo = "Correct the address in the site, or the network path to it."
            yield Finding("addresses", where, what, BLOCKS, found, "", todo)
    for one in answer["registries"]:
        what = f"registry {one['address']}"
        if one["code"]:
            yield refusal(
                "addresses", where, what, {"msg": one["why"], "failure": {"subject": f"Registry {one['address']}"}}
            )
        else:
            login = {"none": "No login was tried", "open": "It requires no login"}.get(
                one["login"], "It accepts the login"
            )
            yield Finding("addresses", where, what, OK, f"It answers {where}. {login}.")


def _answers(where: str, what: str, requested: Mapping[str, Any], one: Mapping[str, Any]) -> Finding:
    """An address that answers; for a key, also whether it is the expected one."""
    if "fingerprints" not in requested:
        return Finding("addresses", where, what, OK, f"It answers {where}.")
    key = f"{requested['setting']}.key_fingerprints"
    if not requested["fingerprints"]:
        return Finding(
            "addresses", where, what, OK, f"It answers {where}. Its key is not compared, since {key} is empty."
        )
    wrong = repository_keys.key_problems(one.get("content") or "", requested["fingerprints"])
    if not wrong:
        return Finding("addresses", where, what, OK, f"It answers {where}, with the expected key.")
    todo = (
        f"If the owner of the repository confirms this key, add its fingerprint to {key}. Otherwise the server, or a "
        f"machine between it and {where}, replaced the key."
    )
    expected = f"Expected is {' or '.join(requested['fingerprints'])}."
    return Finding("addresses", where, what, BLOCKS, f"{' '.join(wrong)} {expected}", "", todo, "key_fingerprint")


def _disks(where: str, disks: Iterable[Mapping[str, Any]], least_gb: int, todo: str) -> Iterator[Finding]:
    for one in disks:
        what = f"disk of {one['path']}"
        if one["free_gb"] is None:
            yield Finding("disk", where, what, BLOCKS, one["why"], "", todo)
        elif one["free_gb"] < least_gb:
            found = f"{one['free_gb']} GB are free."
            yield Finding("disk", where, what, BLOCKS, found, f"{least_gb} GB.", todo)
        else:
            yield Finding("disk", where, what, OK, f"{one['free_gb']} GB are free.")


def guests(seen: Mapping[str, Any] | None, asked: Mapping[str, Any], limits: Mapping[str, int]) -> Iterator[Finding]:
    """Findings on existing guests: login, clock, disk and connections. Guests that do not exist yet are open."""
    if asked["problems"] or not asked["stages"]:
        return
    if not seen or seen["look"].get("skipped"):
        yield Finding("guests", "VMs", "guests", OPEN, "They were not checked.", todo=AGAIN)
        return
    if failed(seen["look"]) or "vms" not in seen["look"]:
        yield refusal("guests", "VMs", "guests", seen["look"])
        return
    for label in seen["waiting"]:
        found = "The VM does not exist yet, so its guest was not checked."
        yield Finding("guests", label, "guest", OPEN, found, todo="Run preflight again after the stage machines.")
    for problem in seen["problems"]:
        name, dummy, text = problem.partition(": ")
        if name.startswith("site."):
            found, dummy, todo = text.partition(". ")
            yield Finding("site", "site", name, BLOCKS, sentence(found), "", todo or "Correct it.")
        else:
            # The VM exists, and its stage may still change it.
            todo = "Run preflight again after the stage machines, or correct the cause."
            yield Finding("guests", name, "guest", OPEN, text, todo=todo)
    for name, answer, before, after in seen["answers"]:
        if answer is before is after is None:  # the play sets all three for each of its guests
            todo = "The option --limit of this run leaves it out. Run preflight again with it."
            yield Finding("guests", name, "guest", OPEN, "It was not checked.", todo=todo)
        else:
            yield from _guest(name, answer, (before, after), asked, limits)


def quarantine(record: Mapping[str, Mapping[str, Any]]) -> Iterator[Finding]:
    """Findings on guests and hosts in quarantine; the training leaves them out."""
    for name, entry in record.items():
        category = "hosts" if entry.get("kind") == "host" else "guests"
        found = f"It has been in quarantine since {entry.get('at')}, so the training leaves it out. {entry.get('why')}"
        todo = "Repair it, and run the playbook validate, which returns it to service."
        yield Finding(category, name, "quarantine", OPEN, found, todo=todo)


def _guest(
    name: str,
    answer: Mapping[str, Any] | None,
    between: tuple[Any, Any],
    asked: Mapping[str, Any],
    limits: Mapping[str, int],
) -> Iterator[Finding]:
    if not answer or failed(answer) or "time" not in answer:
        todo = "Check that it runs, its address, the user, the key, and that this machine knows its host key."
        yield refusal("guests", name, "login", answer or {}, todo=todo)
        return
    yield Finding("guests", name, "login", OK, "The login succeeded.")
    yield from _clock(name, _skew(answer["time"], *between), limits["clock_s"], "the guest")
    yield from _reached(name, answer, asked)
    yield from _disks(name, answer["disks"], limits["guest_gb"], "Free space there, or give the VM a larger disk.")


def _skew(theirs: float, before: str | float, after: str | float) -> float:
    """The difference that network delay cannot explain; before ansible-core 2.19 a template turns numbers into text."""
    before, after = float(before), float(after)
    if theirs > after:
        return theirs - after
    return theirs - before if theirs < before else 0.0
