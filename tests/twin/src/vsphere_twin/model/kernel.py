"""The VMkernel of a host: its boot settings, and the modules with their options. Both act from the next boot on."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

from .kernel_tables import MODULES, SETTINGS
from .seed_file import SeedError, line_of


class Refused(Exception):
    """Refusal in the words of esxcli."""


@dataclass
class KernelSetting:
    """A boot setting, as `esxcli system settings kernel list` has it: values are the texts that are shown."""

    name: str
    type: str  # Bool | Int | String
    configured: str
    runtime: str
    default: str
    description: str


@dataclass
class KernelModule:
    """A VMkernel module: the option string that is configured, and the one that it was loaded with."""

    name: str
    loaded: bool = True
    enabled: bool = True
    options: str = ""
    active: str = ""
    parameters: dict = field(default_factory=dict)  # name: (type, description)

    @property
    def active_options(self):
        """Return the parameters that the module was loaded with; unknown ones have no effect."""
        return {name: value for name, value in parse(self.active).items() if name in self.parameters}


class Kernel:
    """Settings and modules of one host."""

    def __init__(self, drivers=()):
        self.settings = {
            name: KernelSetting(name, kind, default, default, default, text)
            for name, (kind, default, text) in SETTINGS.items()
        }
        self.modules = {name: module(name) for name in ("vmkernel", "nvme_pcie", *drivers)}

    def option(self, module_name, parameter, default=""):
        """A parameter that a loaded module was loaded with."""
        found = self.modules.get(module_name)
        if found is None or not found.loaded:
            return default
        return found.active_options.get(parameter, default)

    def loaded(self, name):
        """Return whether a module runs."""
        return name in self.modules and self.modules[name].loaded


def module(name):
    """Return a module in its state after an installation, with its parameters."""
    return KernelModule(name, parameters=copy.copy(MODULES.get(name, {})))


def furnish(world, host, entry):
    """Create the kernel of a seed; the seed's settings are active already."""
    drivers = [nic.driver for nic in host.nics]
    if "nmlx5_core" in drivers:
        drivers.append("nmlx5_rdma")
    host.kernel = Kernel(dict.fromkeys(drivers))
    for key, work in (("kernel", set_setting), ("module_options", set_options)):
        for name, value in entry.get(key, {}).items():
            try:
                work(world, host, name, value)
            except Refused as refusal:
                words = f"Host {host.name}, {key}: {refusal}."
                raise SeedError([words]).at(line_of(entry[key], name)) from refusal
    at_boot(host)


def at_boot(host):
    """Apply the configured values as running ones."""
    for setting in host.kernel.settings.values():
        setting.runtime = setting.configured
    for one in host.kernel.modules.values():
        one.loaded = one.enabled
        one.active = one.options if one.loaded else ""


def driver_modules(host, family):
    """Set the NVIDIA module after a boot: it exists exactly if a driver was loaded; its options outlive it."""
    if family == "none":
        if "nvidia" in host.kernel.modules:
            host.kernel.modules["nvidia"].loaded = False
        return
    loaded = host.kernel.modules.setdefault("nvidia", module("nvidia"))
    loaded.loaded, loaded.active = loaded.enabled, loaded.options


def set_setting(world, host, name, value):
    """`esxcli system settings kernel set`: kept for the next boot."""
    setting = host.kernel.settings.get(name)
    if setting is None:
        raise Refused(f"Unable to find option {name}")
    setting.configured = _text(setting, value)
    world.touch(host)


def set_options(world, host, name, text, check=True):
    """Set module options by `esxcli system module parameters set`: the string replaces the old one, and is read at the
    next load.

    esxcli compares the names with those that the module declares; the API accepts any string [unsure].
    """
    one = _known(host, name)
    unknown = [key for key in parse(text) if key not in one.parameters]
    if check and unknown:
        raise Refused(f"Unable to set module parameters the following params are invalid: {', '.join(unknown)}")
    if parse(text).get("max_vfs") != parse(one.options).get("max_vfs"):
        for nic in host.ports:
            nic.requested_vfs = None if nic.driver == name else nic.requested_vfs
    one.options = text.strip()
    world.touch(host, host.managers["kernelModuleSystem"])


def set_enabled(world, host, name, enabled):
    """`esxcli system module set -e`: whether the next boot loads the module."""
    _known(host, name).enabled = bool(enabled)
    world.touch(host, host.managers["kernelModuleSystem"])


def load(world, host, name):
    """`esxcli system module load`: a module that does not run yet starts with its options."""
    one = _known(host, name)
    if one.loaded:
        raise Refused(f"Unable to load module {name}: Busy")
    if not one.enabled:
        raise Refused(f"Unable to load module {name}: the module is disabled")
    one.loaded, one.active = True, one.options
    world.touch(host, host.managers["kernelModuleSystem"])


def parse(text):
    """'pfctx=0x08 max_vfs=4,4' as a table."""
    return dict(part.partition("=")[::2] for part in text.split())


def number(text, default=0):
    """A parameter's number, in decimal or 0x notation."""
    try:
        return int(str(text), 0)
    except ValueError:
        return default


def numbers(text):
    """An array parameter: one number per port."""
    return [number(part) for part in str(text).split(",") if part]


def _known(host, name):
    if name not in host.kernel.modules:
        raise Refused(f"Unable to find module {name}")
    return host.kernel.modules[name]


def _text(setting, value):
    text = str(value)
    if setting.type == "Bool":
        word = {"true": "TRUE", "1": "TRUE", "yes": "TRUE", "false": "FALSE", "0": "FALSE", "no": "FALSE"}
        if text.casefold() not in word:
            raise Refused(f"Invalid value '{text}' for option {setting.name}")
        return word[text.casefold()]
    if setting.type == "Int":
        try:
            return str(int(text, 0))
        except ValueError:
            raise Refused(f"Invalid value '{text}' for option {setting.name}") from None
    return text
