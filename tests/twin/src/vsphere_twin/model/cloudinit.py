"""cloud-init in the guest: its use of the VM's guestinfo at the first boot of an instance.

As DataSourceVMware of cloud-init documents it. It silently ignores data that it cannot read.
"""

from __future__ import annotations

import base64
import binascii
import fnmatch
import gzip
import ipaddress
import zlib

import yaml

from . import slots

ENCODINGS = {"": 0, "base64": 1, "b64": 1, "gzip+base64": 2, "gz+b64": 2}


def apply(vm):
    """A host name and fixed addresses, if there is something new for this instance."""
    metadata = _decoded(vm.setting("guestinfo.metadata"), vm.setting("guestinfo.metadata.encoding"))
    take(vm, metadata, _decoded(vm.setting("guestinfo.userdata"), vm.setting("guestinfo.userdata.encoding")))


def take(vm, metadata, userdata):
    """Apply the texts of an instance, unless the guest has seen this instance already."""
    metadata = _table(metadata)
    if metadata is None and not userdata:
        return
    metadata = metadata or {}
    instance = str(metadata.get("instance-id") or vm.uuid)
    if instance == vm.instance_id:
        return
    vm.instance_id = instance
    said = _table(userdata) if userdata and userdata.startswith("#cloud-config") else None
    name = (said or {}).get("hostname") or metadata.get("local-hostname") or metadata.get("hostname")
    if isinstance(name, str) and name:
        vm.host_name = name
    network = metadata.get("network")
    if isinstance(network, str):
        network = _table(_decoded(network, metadata.get("network.encoding")))
    if isinstance(network, dict):
        vm.fixed_addresses = _addresses(vm, network.get("network", network))


def _addresses(vm, network):
    """Return addresses by MAC; an adapter without a static address in the data uses DHCP as before."""
    ethernets = network.get("ethernets") if isinstance(network, dict) else None
    rest = dict(zip(slots.names(vm), vm.nics, strict=False))
    found = {}
    for key, settings in ethernets.items() if isinstance(ethernets, dict) else []:
        if not isinstance(settings, dict):
            continue
        name = _matching(str(key), settings.get("match"), rest)
        if name is None:
            continue
        nic = rest.pop(name)
        interface = _interface(settings.get("addresses"))
        if interface is not None:
            found[nic.macAddress] = interface
    return found


def _matching(key, match, nics):
    """The name of the adapter that an entry means: by MAC, by a pattern of names, or by its own key."""
    match = match if isinstance(match, dict) else {"name": key}
    mac, pattern = match.get("macaddress"), str(match.get("name", "*"))
    for name, nic in nics.items():
        if nic.macAddress.casefold() == str(mac).casefold() if mac else fnmatch.fnmatch(name, pattern):
            return name
    return None


def _interface(addresses):
    for one in addresses if isinstance(addresses, list) else []:
        try:
            interface = ipaddress.ip_interface(str(one))
        except ValueError:
            continue
        if interface.version == 4:
            return interface
    return None


def _decoded(text, encoding):
    """Return the decoded text of a value, or None if it is unreadable."""
    layers = ENCODINGS.get((encoding or "").strip().casefold())
    if not text or layers is None:
        return None
    try:
        data = base64.b64decode(text, validate=True) if layers else text.encode()
        return (gzip.decompress(data) if layers == 2 else data).decode()
    except (binascii.Error, ValueError, OSError, EOFError, zlib.error):
        return None


def _table(text):
    if not text:
        return None
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    return value if isinstance(value, dict) else None
