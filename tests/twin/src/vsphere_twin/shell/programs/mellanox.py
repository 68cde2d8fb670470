"""NVIDIA's firmware tools for network adapters: mst and mlxconfig, there once their VIBs are installed and booted."""

from __future__ import annotations

from vsphere_twin.model import adapters

from ..interpreter import Output, missing, program

HOME = "/opt/mellanox/bin"
KINDS = {0x1017: "ConnectX5", 0x101B: "ConnectX6", 0x101D: "ConnectX6DX", 0x101F: "ConnectX6LX", 0x1021: "ConnectX7"}
# Parameter: (name in the model, whether it is a switch).
PARAMETERS = {"ATS_ENABLED": ("ats", True), "SRIOV_EN": ("sriov", True), "NUM_OF_VFS": ("num_vfs", False)}
MOST_VFS = 127
NOT_LOADED = "MST modules:\n------------\n    MST PCI module is not loaded\n"
PROMPT = " Apply new Configuration? (y/n) [n] : "


@program(f"{HOME}/mst")
def mst(shell, argv, stdin):
    host = shell.host
    if not _installed(host):
        return missing(argv[0])
    if argv[1:] == ["start"]:
        host.daemons["mst"] = True
        return Output("Module mst loaded successfully\n")
    if argv[1:] == ["stop"]:
        host.daemons["mst"] = False
        return Output("Module mst unloaded successfully\n")
    if argv[1:2] == ["status"]:
        if not host.daemons.get("mst"):
            return Output(NOT_LOADED, 1)
        return Output(_verbose(host) if argv[2:] in (["-v"], ["-vv"]) else _short(host))
    return Output("Usage: mst {start|stop|status [-v]}\n", 1)


@program(f"{HOME}/mlxconfig")
def mlxconfig(shell, argv, stdin):
    host = shell.host
    if not _installed(host):
        return missing(argv[0])
    words, options = _split(argv[1:])
    device = options.get("-d")
    nic = next((one for one in _ports(host) if device in (one.mst_name, f"/dev/mst/{one.mst_name}")), None)
    if nic is None or not host.daemons.get("mst"):
        return Output(f"-E- Failed to open the device: {device}: No such file or directory\n", 3)
    if words[:1] in (["query"], ["q"]):
        return _query(nic, words[1:], "-e" in options)
    if words[:1] in (["set"], ["s"]) and words[1:]:
        return _set(shell, nic, words[1:], "-y" in options or stdin().strip().lower() in ("y", "yes"))
    return Output("-E- Unknown command or missing arguments.\n", 1)


def _installed(host):
    """Both VIBs are in the image that runs; they become part of it only by a reboot."""
    names = {one.name for one in host.software.vibs()}
    return {"nmst", "mft"} <= names


def _ports(host):
    return [nic for nic in host.ports if nic.vendor_id == adapters.MELLANOX]


def _short(host):
    return "MST devices:\n------------\n" + "".join(f"        {nic.mst_name}\n" for nic in _ports(host)) + "\n"


def _verbose(host):
    head = f"{'DEVICE_TYPE':<24}{'MST':<30}{'PCI':<10}{'RDMA':<16}{'NET':<40}NUMA"
    rows = [
        f"{KINDS.get(nic.device_id, 'ConnectX') + '(rev:0)':<24}{nic.mst_name:<30}{nic.pci[5:]:<10}"
        f"{nic.rdma.name if nic.rdma else '':<16}{f'net-{nic.device}' if nic in host.nics else '':<40}{nic.numa_node}"
        for nic in _ports(host)
    ]
    return "\n".join(["PCI devices:", "------------", head, *rows, ""]) + "\n"


def _split(words):
    """The command with its arguments, and the options before it."""
    options, rest = {}, []
    words = list(words)
    while words:
        word = words.pop(0)
        if word in ("-d", "--dev") and words:
            options["-d"] = words.pop(0)
        elif word in ("-y", "--yes", "-e", "--show_default", "--enable_verbosity"):
            options["-y" if word in ("-y", "--yes") else "-e"] = True
        else:
            rest.append(word)
    return rest, options


def _query(nic, only, verbose):
    unknown = [name for name in only if name not in _known(nic)]
    if unknown:
        return Output(f"-E- The Device doesn't support {unknown[0]} parameter\n", 3)
    columns = ("Default", "Current", "Next Boot") if verbose else ("Next Boot",)
    lines = [*_head(nic), _row("Configurations:", columns, " ")]
    for name in only or _known(nic):
        attribute, switch = PARAMETERS[name]
        running, next_one = getattr(nic.firmware, attribute), getattr(nic.firmware, f"next_{attribute}")
        values = (type(running)(0), running, next_one) if verbose else (next_one,)
        mark = "*" if verbose and running != next_one else " "
        lines.append(_row(f"        {name}", [_shown(one, switch) for one in values], mark))
    if verbose:
        lines.append("The '*' shows parameters with next value different from default/current value.")
    return Output("\n".join(lines) + "\n")


def _set(shell, nic, assignments, agreed):
    wanted = {}
    for text in assignments:
        name, _equals, value = text.partition("=")
        if name not in _known(nic):
            return Output(f"-E- The Device doesn't support {name} parameter\n", 3)
        number = {"true": 1, "false": 0}.get(value.lower(), int(value, 0) if value.isdigit() else None)
        attribute, switch = PARAMETERS[name]
        if number is None or number > (1 if switch else MOST_VFS):
            return Output(f"-E- Failed to set {name}: {value} is no value for it\n", 3)
        wanted[name] = bool(number) if switch else number
    lines = [*_head(nic), _row("Configurations:", ("Next Boot", "New"), " ")]
    for name, value in wanted.items():
        attribute, switch = PARAMETERS[name]
        before = getattr(nic.firmware, f"next_{attribute}")
        lines.append(_row(f"        {name}", [_shown(before, switch), _shown(value, switch)], " "))
    text = "\n".join([*lines, "", PROMPT])
    if not agreed:
        return Output(f"{text}n\n-E- Aborted by user.\n", 1)
    for name, value in wanted.items():
        setattr(nic.firmware, f"next_{PARAMETERS[name][0]}", value)
    shell.world.touch(shell.host)
    return Output(f"{text}y\nApplying... Done!\n-I- Please reboot machine to load new configurations.\n")


def _known(nic):
    """Return the parameters of the port's firmware; an old one has no ATS."""
    return [name for name in PARAMETERS if name != "ATS_ENABLED" or nic.firmware.knows_ats]


def _head(nic):
    kind = KINDS.get(nic.device_id, "ConnectX")
    return ["", "Device #1:", "----------", "", f"Device type:    {kind}", f"Name:           {nic.model}",
            f"Device:         {nic.mst_name}", ""]  # fmt: skip


def _row(title, values, mark):
    return f"{mark if mark == '*' else ''}{title:<{51 if mark == '*' else 52}}" + "".join(
        f"{one:<16}" for one in values
    )


def _shown(value, switch):
    return f"{'True' if value else 'False'}({int(value)})" if switch else str(value)
