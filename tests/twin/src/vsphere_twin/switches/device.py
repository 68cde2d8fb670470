"""The operating system of a switch, as the rest of the twin sees it."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil

from .lans import Lan
from .treatment import Treatment

_KINDS = {}


class Device:
    """Operating system of one switch. A platform is a subclass with `platform` set, in a module of
    switches.platforms.
    """

    platform = ""  # eos, nxos, onyx, os10, cumulus, sonic
    interactive = True  # whether users meet a command line of its own; else a Linux shell with programs
    VERSIONS: tuple = ()  # releases that the rules know; the first is the one of a seed that names none
    MODEL = ""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if cls.platform:
            _KINDS[cls.platform] = cls

    def __init__(self, switch):
        self.switch = switch  # twin.switches.model.PhysicalSwitch: name, version, ports, full_flash, faults

    @staticmethod
    def port_names(count):
        """The names of ports 1 to count, as this platform has them."""
        raise NotImplementedError

    def load(self, lines, refused=None):
        """Start from configuration lines of a seed, as if an operator had typed and saved them.

        A line that the platform does not accept is a ValueError, or goes to refused(line, why) and is left out.
        """
        raise NotImplementedError

    def treatment(self, port_name) -> Treatment:
        """Return the treatment of packets by the hardware at a port now."""
        raise NotImplementedError

    def shut(self, port_name) -> bool:
        """Return whether a port is administratively down."""
        raise NotImplementedError

    def lan(self, port_name) -> Lan:
        """The VLANs of a port."""
        raise NotImplementedError

    @staticmethod
    def base(ports, vlans) -> list:
        """Return lines for load() that make ports trunks with these VLANs: an operator's first step."""
        raise NotImplementedError

    def dialogue(self, username):
        """A session at the command line, where interactive."""
        raise NotImplementedError

    def programs(self):
        """{name: f(shell, argv, stdin) -> Output}, where not interactive."""
        raise NotImplementedError

    def running(self) -> str:
        """Return the running configuration in the platform's notation: for tests of the twin."""
        raise NotImplementedError

    def startup(self) -> str:
        """Return the startup configuration."""
        raise NotImplementedError

    def reload(self):
        """Restart: the startup configuration runs, pending changes are lost."""
        raise NotImplementedError


def each_line(lines, run, refused=None):
    """Run each line. run returns why it was refused, if it was: the lines in its section are left out too."""
    left_out = None
    for line in lines:
        depth = len(line) - len(line.lstrip())
        if left_out is not None and depth > left_out:
            continue
        left_out, why = None, run(line)
        if not why:
            continue
        if refused is None:
            raise ValueError(why)
        refused(line, why)
        left_out = depth


def kind(platform):
    """Return the class of a platform, from the module of its name; ValueError for an unknown one."""
    package = importlib.import_module(f"{__package__}.platforms")
    if importlib.util.find_spec(f"{package.__name__}.{platform}") is not None:
        importlib.import_module(f"{package.__name__}.{platform}")
    if platform not in _KINDS:
        known = ", ".join(sorted(one.name for one in pkgutil.iter_modules(package.__path__) if "_" not in one.name))
        raise ValueError(f"There is no platform {platform}; these exist: {known}, enterprise_sonic.")
    return _KINDS[platform]
