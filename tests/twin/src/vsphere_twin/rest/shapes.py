"""Images, drafts, compliance and results as the REST API writes them."""

from __future__ import annotations

from vsphere_twin.model import image as images

from .errors import message
from .stamps import stamp


def apply_result(result):
    """The result of a remediation as the API writes it."""
    said = [(status, text) for status, texts in result["results"].values() for text in texts]
    shown = {key: value for key, value in result.items() if key != "results"}
    return {
        **shown,
        "host_status": {
            moid: {"status": status, "notifications": notifications([(status, text) for text in texts])}
            for moid, (status, texts) in result["results"].items()
        },
        "notifications": notifications(said),
    }


def metadata(draft):
    """Return the owner of a draft."""
    return {"creation_time": stamp(draft.created), "owner": draft.owner, "status": "VALID"}


def software(world, held):
    """An image or a draft of one."""
    release, add_on = world.release, held.add_on
    version = f"{release.version}-0.{release.update}.{release.build}"
    return {
        "base_image": {
            "version": version,
            "details": {
                "display_name": "ESXi",
                "display_version": f"{release.version} - {release.build}",
                "release_date": "2024-06-25T00:00:00.000Z",
            },
        },
        "add_on": {
            "name": add_on["name"],
            "version": add_on["version"],
            "details": {
                "display_name": add_on["display_name"],
                "display_version": add_on["version"],
                "vendor": "Dell",
            },
        },
        "components": components(world, held.components),
        "solutions": {},
    }


def components(world, held):
    """Components as images list them."""
    shown = {}
    for name, version in held.items():
        known = world.depots.component(name, version)
        details = {"display_name": name, "vendor": ""}
        if known is not None:
            details = {
                "display_name": known.display_name,
                "display_version": known.display_version,
                "vendor": known.vendor,
            }
        shown[name] = {"version": version, "details": details}
    return shown


def compliance(world, cluster):
    """Return the findings of the last scan, host by host."""
    findings = cluster.image.findings or {
        moid: images.Finding("UNAVAILABLE", ["The compliance was not checked yet."]) for moid in cluster.hosts
    }
    by_status = {
        status: [moid for moid, one in findings.items() if one.status == status]
        for status in ("INCOMPATIBLE", "UNAVAILABLE", "NON_COMPLIANT", "COMPLIANT")
    }
    worst = next((status for status, hosts in by_status.items() if hosts), "COMPLIANT")
    notes = notifications([(one.status, text) for one in findings.values() for text in one.texts])
    return {
        "status": worst,
        "impact": "REBOOT_REQUIRED" if by_status["NON_COMPLIANT"] else "NO_IMPACT",
        "scan_time": stamp(cluster.image.scanned) if cluster.image.scanned else "",
        "commit": cluster.image.commit,
        "notifications": notes,
        "compliant_hosts": by_status["COMPLIANT"],
        "non_compliant_hosts": by_status["NON_COMPLIANT"],
        "incompatible_hosts": by_status["INCOMPATIBLE"],
        "unavailable_hosts": by_status["UNAVAILABLE"],
        "host_info": {moid: {"name": host.name} for moid, host in cluster.hosts.items()},
        "hosts": {
            moid: {
                "status": one.status,
                "impact": "REBOOT_REQUIRED" if one.status == "NON_COMPLIANT" else "NO_IMPACT",
                "notifications": notifications([(one.status, text) for text in one.texts]),
            }
            for moid, one in findings.items()
        },
    }


def notifications(said):
    """Texts by how bad they are."""
    kinds = {"errors": ("ERROR", "INCOMPATIBLE", "UNAVAILABLE"), "warnings": ("NON_COMPLIANT",), "info": ()}
    found = {kind: [] for kind in kinds}
    for status, text in said:
        kind = next((name for name, ones in kinds.items() if status in ones), "info")
        found[kind].append({"id": "com.vmware.vcIntegrity", "message": message(text), "type": kind.rstrip("s").upper()})
    return {kind: entries for kind, entries in found.items() if entries}
