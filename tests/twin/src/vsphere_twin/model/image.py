"""Software management of a cluster: by baselines, or by one image with its drafts, commits and compliance."""

from __future__ import annotations

import datetime
import itertools
from dataclasses import dataclass, field

from . import packages
from . import vib as vibs
from .depot import Bundle
from .seed_file import SeedError

ADD_ON = {"name": "DEL-ESXi", "version": "803.24022510-A01", "display_name": "Dell Addon for PowerEdge Servers"}


class Refused(Exception):
    """An error of the REST services: its kind and its message."""

    def __init__(self, kind, *texts):
        self.kind = kind
        self.texts = texts
        super().__init__(f"{kind}: {' '.join(texts)}")


@dataclass
class Draft:
    """A working copy of an image; each user has one at most."""

    id: str
    owner: str
    components: dict
    add_on: dict
    created: datetime.datetime = field(default_factory=lambda: datetime.datetime.now(datetime.timezone.utc))


@dataclass
class Finding:
    """Result of a scan for one host."""

    status: str  # COMPLIANT NON_COMPLIANT INCOMPATIBLE UNAVAILABLE
    texts: list = field(default_factory=list)


class Image:
    """The software management of one cluster."""

    def __init__(self):
        self.managed = False
        self.components: dict[str, str] = {}  # beyond the base image: name: version
        self.add_on = dict(ADD_ON)
        self.commits: list[dict] = []
        self.drafts: dict[str, Draft] = {}
        self.findings: dict[str, Finding] | None = None  # by the host's moid, after the first scan
        self.scanned: datetime.datetime | None = None
        self.last_apply: dict | None = None
        self._numbers = itertools.count(1)

    @property
    def commit(self):
        """The id of the newest commit."""
        return str(len(self.commits))


def furnish(world, cluster, entry):
    """The management that a seed describes: baselines, managed, or the components of an image."""
    image = cluster.image
    wanted = entry.get("image", "managed" if world.release.images_only else "baselines")
    if wanted == "baselines":
        if world.release.images_only:
            raise SeedError(
                [f"Cluster {cluster.name}: vSphere {world.release.name} has no baselines. Set image to managed."]
            )
        return
    content = wanted if isinstance(wanted, dict) else {}
    unknown = set(content) - {"components"}
    if wanted != "managed" and not isinstance(wanted, dict) or unknown:
        raise SeedError([f"Cluster {cluster.name}: image is baselines, managed, or a table of components."])
    image.managed = True
    for host in cluster.hosts.values():
        if not content:
            _adopt(world, image, host)
    for name in content.get("components", []):
        contents, components = packages.named(name)
        world.depots.add(f"Depot of {name}", f"https://depot.example/{name}.zip", Bundle(contents, components), "seed")
        image.components.update({one.name: one.version for one in components})
    image.commits.append({"message": "Initial image", "components": dict(image.components)})


def _adopt(world, image, host):
    """An image that is set up from running hosts holds the components that they have."""
    for component in _beyond_base(host).values():
        if world.depots.component(component.name, component.version) is None:
            contents = [one for one in host.software.vibs() if one.id in component.vibs]
            location = f"https://depot.example/{component.id}.zip"
            world.depots.add(f"Depot of {component.id}", location, Bundle(tuple(contents), (component,)), "seed")
        image.components[component.name] = component.version


def create_draft(image, user):
    """A draft of the image as it is."""
    if any(draft.owner == user for draft in image.drafts.values()):
        raise Refused("ALREADY_EXISTS", f"There is already a draft created by user {user}.")
    draft = Draft(str(next(image._numbers)), user, dict(image.components), dict(image.add_on))
    image.drafts[draft.id] = draft
    return draft


def change_draft(draft, to_set, to_delete):
    """Components of a draft; an unknown one to delete is no error."""
    for name, version in to_set.items():
        if not isinstance(version, str):
            raise Refused("INVALID_ARGUMENT", f"The version of component {name} is not a text.")
    draft.components.update(to_set)
    for name in to_delete:
        draft.components.pop(name, None)


def commit_draft(world, cluster, draft, text):
    """The draft becomes the cluster's image, when every component of it is in a depot."""
    image = cluster.image
    resolved, missing = {}, []
    for name, version in draft.components.items():
        found = world.depots.component(name, version)
        if found is None:
            missing.append(f"Component {name}({version}) is not found in the depot.")
        else:
            resolved[name] = found.version
    if missing:
        raise Refused("ERROR", *missing)
    image.components, image.add_on = resolved, draft.add_on
    image.commits.append({"message": text, "components": dict(resolved)})
    image.drafts.pop(draft.id, None)
    world.touch(cluster)
    return image.commit


def scan(world, cluster):
    """Compare every host with the image."""
    cluster.image.findings = {host.moid: finding(world, cluster, host) for host in cluster.hosts.values()}
    cluster.image.scanned = datetime.datetime.now(datetime.timezone.utc)


def finding(world, cluster, host):
    """Compare a host with its cluster's image.

    A host with a newer component than its image is incompatible, however it got that component (Broadcom KB 320562 and
    440252). Its administrator removes the component with esxcli first.
    """
    image = cluster.image
    if not host.reachable:
        return Finding("UNAVAILABLE", [f"Host {host.name} is not connected."])
    there = _beyond_base(host)
    newer = [
        one
        for one in there.values()
        if one.name in image.components and vibs.sort_key(one.version) > vibs.sort_key(image.components[one.name])
    ]
    if newer:
        lines = [
            f"Downgrades of manually added Components {one.name}({one.version}) in the desired Addon "
            f"{image.add_on['name']} are not supported."
            for one in newer
        ]
        return Finding("INCOMPATIBLE", [*lines, "Host is not compatible with the image."])
    missing = [
        name for name, version in image.components.items() if name not in there or there[name].version != version
    ]
    extra = [name for name in there if name not in image.components]
    texts = [f"Component {name} of the image is not installed in the desired version." for name in missing]
    texts += [f"Component {name} is installed and not part of the image." for name in extra]
    return Finding("NON_COMPLIANT" if texts else "COMPLIANT", texts)


def steps_for(world, cluster, host):
    """Return the steps from a host to the image: the bundle to install, and the components to remove."""
    there = _beyond_base(host)
    wanted = {name: world.depots.component(name, version) for name, version in cluster.image.components.items()}
    coming = [one for name, one in wanted.items() if name not in there or there[name].version != one.version]
    contents = tuple(vib for one in coming for vib in world.depots.contents(one))
    return Bundle(contents, tuple(coming)), [name for name in there if name not in wanted]


def _beyond_base(host):
    base = {one.name for one in packages.base(host.release)[1]}
    return {one.name: one for one in host.software.components(rebooting=True) if one.name not in base}
