"""Files of a guest at its start: the lab's programs on its disk, and a folder with its own data."""

from __future__ import annotations

import io
import tarfile
import uuid
from pathlib import Path

FILES = Path(__file__).parent / "files"
HOME = "/usr/lib/lab"
INIT = f"{HOME}/init"
OWN = {  # path in the guest: (source, mode)
    INIT: (FILES / "init", 0o755),
    f"{HOME}/tools": (FILES / "tools", 0o755),
    "/usr/local/sbin/runc": (FILES / "runc", 0o755),  # engines find it before their own
    "/usr/lib/systemd/system/open-vm-tools.service": (FILES / "open-vm-tools.service", 0o644),
}
LINKS = {
    "/etc/systemd/system/multi-user.target.wants/open-vm-tools.service": (
        "/usr/lib/systemd/system/open-vm-tools.service"
    ),
}


def archive():
    """The lab's own files of a guest, beside those of the image."""
    from .programs import layout

    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for place, (source, mode) in {**OWN, **layout.FILES}.items():
            content = layout.content(source, mode)
            row = tarfile.TarInfo(place.lstrip("/"))
            row.size, row.mode = len(content), mode
            tar.addfile(row, io.BytesIO(content))
        for place, target in {**LINKS, **layout.LINKS}.items():
            row = tarfile.TarInfo(place.lstrip("/"))
            row.type, row.linkname = tarfile.SYMTYPE, target
            tar.addfile(row)
    return buffer.getvalue()


def furnish(machine, name, wires):
    """Fill the folder of a machine for its start."""
    guests, folder, vm = machine.guests, machine.folder, machine.vm
    (folder / "plugged").unlink(missing_ok=True)
    (folder / "hostname").write_text(f"{name.partition('.')[0]}\n", encoding="utf-8")
    (folder / "machine-id").write_text(f"{uuid.UUID(vm.uuid).hex}\n", encoding="utf-8")
    (folder / "resolv.conf").write_text(guests.resolv_conf, encoding="utf-8")
    (folder / "authorized_keys").write_text(guests.keys.authorised, encoding="utf-8")
    (folder / "ca.crt").write_bytes(Path(guests.ca_file).read_bytes())
    key = folder / "ssh_host_ed25519_key"
    key.touch(mode=0o600)
    key.write_text(machine.private, encoding="utf-8")
    key.with_suffix(".pub").write_text(machine.public, encoding="utf-8")
    _leases(guests, vm, folder / "network", wires)


def _leases(guests, vm, network, wires):
    """Return the DHCP lease of each adapter in its network; a static address has priority."""
    network.mkdir(exist_ok=True)
    for old in network.iterdir():
        old.unlink()
    with guests.world.lock:
        fixed = dict(vm.fixed_addresses)
    number = int(vm.moid.rpartition("-")[2])
    for position, wire in enumerate(wires):
        segment = guests.networks.segment(wire.network)
        known = next((one for mac, one in fixed.items() if mac.lower() == wire.mac), None)
        address = known or segment.lease(wire.mac, number - 101)
        lines = ["[Match]", f"MACAddress={wire.mac}", "[Network]", f"Address={address.with_prefixlen}"]
        lines += ["LinkLocalAddressing=no", "IPv6AcceptRA=no"]
        if position == 0:
            lines.append(f"Gateway={guests.networks.gateway_for(segment, address)}")
        (network / f"90-dhcp-{wire.name}.network").write_text("\n".join(lines) + "\n", encoding="utf-8")
