"""esxcli system settings and system module: boot settings, advanced options, and modules with their parameters."""

from __future__ import annotations

from vsphere_twin.model import kernel

from ..command import BOOL, INT, Argument, Refused, Rows, Single, Structure, command

SETTING = Structure("KernelSetting", ("Name", "Type", "Configured", "Runtime", "Default", "Description"))
MODULE = Structure("Module", ("Name", "Is Loaded", "Is Enabled"), types={"Is Loaded": BOOL, "Is Enabled": BOOL})
MODULE_FULL = Structure(
    "ModuleDetails",
    (
        *("Module", "Module File", "License", "Version", "Build Type", "Provided Namespaces", "Required Namespaces"),
        *("Containing VIB", "VIB Acceptance Level"),
    ),
    lists=("Required Namespaces",),
)
PARAMETER = Structure("Parameter", ("Name", "Type", "Value", "Description"))
OPTION = Structure(
    "SettingsAdvancedOption",
    (
        *("Path", "Type", "Int Value", "Default Int Value", "Min Value", "Max Value", "String Value"),
        *("Default String Value", "Valid Characters", "Description", "Host Specific", "Impact"),
    ),
    types={"Int Value": INT, "Default Int Value": INT, "Min Value": INT, "Max Value": INT, "Host Specific": BOOL},
)
DESCRIPTIONS = {"/Net/PVRDMAVmknic": "Vmknic for PVRDMA"}
MOST = 2147483647


@command(
    "system.settings.kernel.list",
    "List VMkernel settings.",
    Argument("delta", "d", type=BOOL, flag=True),
    Argument("option", "o"),
)
def kernel_list(world, host, delta=False, option=None):
    settings = host.kernel.settings
    if option is not None and option not in settings:
        raise Refused(f"Unable to find option {option}")
    rows = [
        {
            "Name": one.name,
            "Type": one.type,
            "Configured": one.configured,
            "Runtime": one.runtime,
            "Default": one.default,
            "Description": one.description,
        }
        for name, one in sorted(settings.items())
        if option in (None, name) and not (delta and one.configured == one.default)
    ]
    return Rows(SETTING, rows, table=True)


@command(
    "system.settings.kernel.set",
    "Set a VMKernel setting.",
    Argument("setting", "s", required=True),
    Argument("value", "v", required=True),
)
def kernel_set(world, host, setting, value):
    kernel.set_setting(world, host, setting, value)


@command(
    "system.settings.advanced.list",
    "List the advanced options available from the VMkernel.",
    Argument("delta", "d", type=BOOL, flag=True),
    Argument("option", "o"),
    Argument("tree", "t"),
)
def advanced_list(world, host, delta=False, option=None, tree=None):
    rows = [_option(key, value) for key, value in sorted(host.options.items())]
    if option is not None:
        rows = [row for row in rows if row["Path"] == option]
        if not rows:
            raise Refused("Unable to find option")
    if tree is not None:
        rows = [row for row in rows if row["Path"].startswith(tree)]
    return Rows(OPTION, rows)


@command(
    "system.settings.advanced.set",
    "Set the value of an advanced option.",
    Argument("default", "d", type=BOOL, flag=True),
    Argument("int-value", "i", type=INT),
    Argument("option", "o", required=True),
    Argument("string-value", "s"),
)
def advanced_set(world, host, option, default=False, intvalue=None, stringvalue=None):
    key = next((one for one in host.options if _path(one) == option), None)
    if key is None:
        raise Refused("Unable to find option")
    is_text = isinstance(host.options[key], str)
    if default:
        value = "" if is_text else 0
    elif is_text and stringvalue is not None:
        value = stringvalue
    elif not is_text and intvalue is not None:
        value = bool(intvalue) if isinstance(host.options[key], bool) else intvalue
    else:
        raise Refused(f"Invalid option: {option} takes {'a string' if is_text else 'an integer'} value.")
    host.options[key] = value
    world.touch(host, host.managers["advancedOption"])


@command(
    "system.module.list",
    "List the VMkernel modules that the system knows about.",
    Argument("enabled", "e", type=BOOL),
    Argument("loaded", "l", type=BOOL),
)
def module_list(world, host, enabled=None, loaded=None):
    rows = [
        {"Name": one.name, "Is Loaded": one.loaded, "Is Enabled": one.enabled}
        for one in host.kernel.modules.values()
        if enabled in (None, one.enabled) and loaded in (None, one.loaded)
    ]
    return Rows(MODULE, rows, table=True)


@command("system.module.get", "Show information for a given VMkernel module.", Argument("module", "m", required=True))
def module_get(world, host, module):
    found = _module(host, module)
    vib = _vib_of(host, module)
    version = host.driver.version if module == "nvidia" else (vib.version if vib else host.release.version)
    details = {
        "Module": module,
        "Module File": f"/usr/lib/vmware/vmkmod/{module}",
        "License": "NVIDIA" if module == "nvidia" else "BSD",
        "Version": version if found.loaded else "",
        "Build Type": "release",
        "Provided Namespaces": "",
        "Required Namespaces": [],
        "Containing VIB": vib.name if vib else "esx-base",
        "VIB Acceptance Level": vib.acceptance if vib else "certified",
    }
    return Single(MODULE_FULL, details)


@command(
    "system.module.load",
    "Load a VMkernel module.",
    Argument("force", "f", type=BOOL, flag=True),
    Argument("module", "m", required=True),
)
def module_load(world, host, module, force=False):
    kernel.load(world, host, module)


@command(
    "system.module.set",
    "Allow enabling and disabling a given VMkernel module.",
    Argument("enabled", "e", type=BOOL, required=True),
    Argument("force", "f", type=BOOL, flag=True),
    Argument("module", "m", required=True),
)
def module_set(world, host, module, enabled, force=False):
    kernel.set_enabled(world, host, module, enabled)


@command(
    "system.module.parameters.list",
    "List the parameters that are supported on a given module.",
    Argument("module", "m", required=True),
)
def parameters_list(world, host, module):
    one = _module(host, module)
    values = kernel.parse(one.options)
    rows = [
        {"Name": name, "Type": kind, "Value": values.get(name, ""), "Description": text}
        for name, (kind, text) in sorted(one.parameters.items())
    ]
    return Rows(PARAMETER, rows, table=True)


@command(
    "system.module.parameters.set",
    "Allow setting module load parameters for a given VMkernel module.",
    Argument("append", "a", type=BOOL, flag=True),
    Argument("force", "f", type=BOOL, flag=True),
    Argument("module", "m", required=True),
    Argument("parameter-string", "p", required=True),
)
def parameters_set(world, host, module, parameterstring, append=False, force=False):
    text = parameterstring
    if append:
        merged = {**kernel.parse(_module(host, module).options), **kernel.parse(text)}
        text = " ".join(f"{name}={value}" for name, value in merged.items())
    kernel.set_options(world, host, module, text, check=not force)


def _module(host, name):
    if name not in host.kernel.modules:
        raise Refused(f"Unable to find module {name}")
    return host.kernel.modules[name]


def _vib_of(host, module):
    """The VIB that brought a module; the driver's is the one that was loaded at the boot."""
    path = f"usr/lib/vmware/vmkmod/{module}"
    if module == "nvidia":
        return host.software.driver_vib()
    return next(
        (one for one in host.software.vibs() if path in one.files or one.name == module.replace("_", "-")), None
    )


def _path(key):
    return f"/{key.replace('.', '/')}"


def _option(key, value):
    row = {
        "Path": _path(key),
        "Description": DESCRIPTIONS.get(_path(key), ""),
        "Host Specific": False,
        "Impact": "none",
    }
    if isinstance(value, str):
        return {**row, "Type": "string", "String Value": value, "Default String Value": "", "Valid Characters": "*"}
    return {
        **row,
        "Type": "integer",
        "Int Value": int(value),
        "Default Int Value": 0,
        "Min Value": 0,
        "Max Value": MOST,
    }
