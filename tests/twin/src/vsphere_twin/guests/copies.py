"""Copies of disks: the system of a machine as an image, and the data of its engines as a second volume."""

from __future__ import annotations

from . import lab as labs

COPY = ["sh", "-c", "cp -a /from/. /to/"]


class Copies:
    """Disks that clones start from."""

    def __init__(self, client, lab, base):
        self._client, self._lab, self._base = client, lab, base
        self._volumes = {}  # image: the volume that belongs to it

    def take(self, source, copy):
        """Take an image of a running machine's disk, for one copy."""
        name = f"{self._lab.id}-{copy.vm.moid}"
        changes = "\n".join(f'LABEL {key}="{value}"' for key, value in self._lab.labels.items())
        container = self._client.containers.get(source.container_name)
        image = container.commit(labs.IMAGES, name, pause=False, changes=changes)
        volume = self._client.volumes.create(self._lab.name(f"copy-{copy.vm.moid}"), labels=self._lab.labels)
        self._copy(source.volume, volume.name)
        self._volumes[image.id] = volume.name
        return image.id

    def fill(self, machine):
        """Fill the second volume of a new machine from its source's."""
        volume = self._volumes.get(machine.disk.result())
        if volume is not None:
            self._copy(volume, machine.volume)

    def _copy(self, source, target):
        self._client.containers.run(
            self._base,
            COPY,
            remove=True,
            labels=self._lab.labels,
            network_mode="none",
            volumes=[f"{source}:/from:ro", f"{target}:/to"],
        )
