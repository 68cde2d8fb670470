"""A capture as a seed: the data centre with its names and identifiers, and what the twin has to assume."""

from __future__ import annotations

import itertools
import json

from ..model.as_captured import plain
from ..model.release import RELEASES
from . import bmcs, fabric, guests, hosts, inventory, libraries, references, shells, vms
from .assumptions import Assumptions
from .bundle import Bundle
from .inventory import Tree, ident

USERS = {"administrator@vsphere.local": "VMware1!"}
BEHAVIOURS = ("manual", "partiallyAutomated", "fullyAutomated")


def of(path):
    """The data of the seed that a capture describes; SeedError where it lacks what the twin cannot assume."""
    return of_bundle(Bundle(path))


def of_bundle(bundle):
    """The same, of a capture whose files were read."""
    assumptions = Assumptions()
    release = _release(bundle, assumptions)
    if bundle.assumed is not None:
        center = bundle.of_kind("Datacenter")[0].name
        assumptions.assume("datacenter", "name", center, "the capture has no file of a Datacenter")
    if bundle.get("ha-host") is not None:
        assumptions.assume("objects", "identifiers", "those of a vCenter", "the capture is of one ESXi host")
    made = {
        "description": f"Captured at {bundle.time}.",
        "captured": bundle.time,
        "release": release,
        "users": dict(USERS),
        "datacenters": [_datacenter(bundle, one, release, assumptions) for one in bundle.of_kind("Datacenter")],
    }
    ports = {
        host["name"]: [nic["device"] for nic in host.get("nics", ())]
        for center in made["datacenters"]
        for host in [*center["hosts"], *(one for cluster in center["clusters"] for one in cluster["hosts"])]
    }
    made["fabric"] = fabric.fabric(bundle, ports, assumptions)
    assumptions.attempt("content libraries", "presence", "absent", libraries.add, bundle, made, assumptions)
    assumptions.attempt("tags", "presence", "absent", _tags, bundle, made, assumptions)
    specs = bundle.get("CustomizationSpecManager")
    for info in specs.get("info", ()) if specs is not None else ():
        what = f"customization specification {info.name}"
        made.setdefault("customizations", []).append(
            {"name": info.name, "nics": assumptions.assume(what, "adapters", ["dhcp"], "only its name is captured")}
        )
    assumptions.attempt("guests", "outputs", "absent", guests.assume, bundle, assumptions)
    assumptions.end(bundle.path)
    references.assume(bundle, assumptions)
    references.assume_left_out(bundle, made, assumptions)
    _unread(bundle, assumptions)
    made["assumptions"] = assumptions.rows
    # Words of the API become plain text.
    return json.loads(json.dumps(made, default=str))


def _unread(bundle, assumptions):
    """Files and properties that have another form than they should have."""
    for name, why in sorted(bundle.unread.items()):
        assumptions.assume(f"file {name}", "content", "absent", why)
    for one in bundle.objects.values():
        for name, why in one.unread.items():
            assumptions.assume(f"{one.kind} {one.moid}", name, "absent", f"it cannot be read: {why}")


def _tags(bundle, made, assumptions):
    kinds = ("id", "name", "description", "cardinality")
    made["categories"] = [
        {**{key: one[key] for key in kinds if key in one}, "kinds": one.get("associable_types", [])}
        for one in bundle.rest("cis/tagging/category")
    ]
    known = {one["id"] for one in made["categories"]}
    made["tags"], attached = [], _tagged(bundle, assumptions)
    for one in bundle.rest("cis/tagging/tag"):
        if one["category_id"] not in known:
            assumptions.assume(f"tag {one['name']}", "presence", "absent", "its category is not captured")
            continue
        row = {"id": one["id"], "name": one["name"], "category": one["category_id"]}
        listed = attached.get(one["id"], [])
        objects = [pair for pair in listed if pair[1] in bundle.objects]
        if len(objects) < len(listed):
            lost = f"{len(listed) - len(objects)} of its objects"
            assumptions.assume(f"tag {one['name']}", lost, "absent", "they are not captured")
        made["tags"].append({**row, "description": one.get("description", ""), "objects": objects})


def _tagged(bundle, assumptions):
    """The objects that have each tag, by its identifier: pairs of kind and moid."""
    tags = bundle.data("rest/api/cis/tagging/tag.json")
    found, batches = {}, bundle.lists("cis/tagging/tag-association")
    for row in itertools.chain(*batches):
        found[row["tag_id"]] = [[one["type"], one["id"]] for one in row["object_ids"]]
    if tags and not batches:
        assumptions.assume("tags", "objects that have them", "none")
    return found


def _release(bundle, assumptions):
    about = bundle.manifest.get("vcenter")
    version = about.get("version") if isinstance(about, dict) else None
    version = version if isinstance(version, str) else None
    root = bundle.get("ServiceInstance")
    if version is None and root is not None:
        version = root.get("content.about.version")
    if version is None:
        found = [one.get("config.product.version") for one in bundle.of_kind("HostSystem")]
        version = max(filter(None, found), default="8.0.3")
        assumptions.assume("vCenter", "release", version)
    return hosts.release(version, "vCenter", assumptions)


def _datacenter(bundle, center, release, assumptions):
    tree = Tree(bundle, center, RELEASES[release].images_only)
    tree.shells, tree.bmcs = shells.Shells(bundle), bmcs.Bmcs(bundle)
    made = inventory.datacenter(tree, assumptions)
    known = tree.of_kind("HostSystem")
    entries = {one.moid: _host(tree, one, release, assumptions) for one in known}
    entries = {moid: entry for moid, entry in entries.items() if entry is not None}
    known = [one for one in known if one.moid in entries]
    made["clusters"], made["hosts"] = [], []
    placed = set()
    for one in tree.of_kind("ClusterComputeResource", "ComputeResource"):
        inside = [ident(reference) for reference in one.get("host", ()) if ident(reference) in entries]
        placed.update(inside)
        mine = [entries[moid] for moid in inside]
        moids = [one.moid, ident(one.get("resourcePool")), ident(one.get("environmentBrowser"))]
        moids = [moid for moid in moids if moid]
        if one.kind == "ClusterComputeResource":
            made["clusters"].append(_cluster(tree, one, mine, moids, assumptions))
        else:
            made["hosts"] += [dict(entry, compute_moids=moids, folder=tree.folder(one)) for entry in mine]
    for one in [one for one in known if one.moid not in placed]:
        assumptions.assume(f"host {one.name}", "cluster", "none", "its cluster is not captured")
        made["hosts"].append(dict(entries[one.moid], compute_moids=[ident(one.get("parent"))], folder=""))
    names = {one.moid: one.name for one in known}
    rows = [_vm(tree, one, names, assumptions) for one in tree.of_kind("VirtualMachine")]
    made["vms"] = [row for row in rows if isinstance(row, dict)]
    return made


def _host(tree, one, release, assumptions):
    found = assumptions.attempt(f"host {one.name}", "presence", "absent", hosts.host, tree, one, release, assumptions)
    return found if isinstance(found, dict) else None


def _vm(tree, one, names, assumptions):
    return assumptions.attempt(f"VM {one.name}", "presence", "absent", vms.vm, tree, one, names, assumptions)


def _cluster(tree, one, mine, moids, assumptions):
    what = f"cluster {one.name}"
    config = one.get("configurationEx")
    drs, ha = getattr(config, "drsConfig", None), getattr(config, "dasConfig", None)
    made = {"name": one.name, "folder": tree.folder(one), "moids": moids, "hosts": mine}
    if drs is None:
        made["drs"] = assumptions.assume(what, "DRS", "manual")
    else:
        made["drs"] = drs.defaultVmBehavior if drs.enabled and drs.defaultVmBehavior in BEHAVIOURS else "off"
        made["drs_options"] = {row.key: str(row.value) for row in drs.option}
    made["ha"] = bool(ha.enabled) if ha is not None else assumptions.assume(what, "HA", False)
    made["pools"] = _pools(tree, tree.bundle.get(ident(one.get("resourcePool"))))
    fields = ("rule", "group", "drsVmConfig", "dasVmConfig")
    made["settings"] = {name: plain(getattr(config, name, None) or []) for name in fields}
    answer = tree.bundle.data(f"rest/api/esx/settings/clusters/{one.moid}/enablement/software.json")
    managed = answer.get("enabled") if isinstance(answer, dict) else None
    if managed is None:
        made["image"] = "baselines" if not tree.images_only else "managed"
        assumptions.assume(what, "lifecycle management", made["image"])
    else:
        made["image"] = "managed" if managed else "baselines"
    return made


def _pools(tree, pool):
    below = (
        [tree.bundle.get(ident(reference)) for reference in pool.get("resourcePool", ())] if pool is not None else []
    )
    return [
        {"name": one.name, "moid": one.moid, "pools": _pools(tree, one)}
        for one in below
        if one is not None and one.kind == "ResourcePool"
    ]
