"""Verbs of the control API for switches."""

from __future__ import annotations

from .model import BOOT_SECONDS, FEATURES


class SwitchControl:
    """Failures of switches, by the name of the switch."""

    def __init__(self, world):
        self._world = world
        self._fabric = world.fabric

    def clear(self):
        """Remove all failures that were planned here; cables stay unchanged."""
        self._world.switch_faults.clear()
        for switch in self._fabric.switches.values():
            switch.refusing = switch.full_flash = False
            switch.dead_features.clear()

    def drop_switch(self, switch):
        """Close all connections of a switch; new ones are accepted."""
        self._fabric.switch(switch).hang_up()

    def refuse_switch(self, switch, seconds=None):
        """Refuse new connections, for some seconds or until it is cleared."""
        found = self._fabric.switch(switch)
        found.refusing = True
        if seconds is not None:
            self._world.timeline.after(float(seconds), found.let_in)

    def fill_flash(self, switch, full=True):
        """Make every save of the configuration fail."""
        self._fabric.switch(switch).full_flash = bool(full)

    def kill_feature(self, switch, feature):
        """Prevent the hardware of a switch from doing a configured feature: pfc, ecn, trust, watchdog or mtu."""
        if feature not in FEATURES:
            raise ValueError(f"There is no feature {feature}; these exist: {', '.join(FEATURES)}.")
        self._fabric.switch(switch).dead_features.add(feature)

    def link(self, switch, port, up):
        """Pull the cable of a port, or plug it again."""
        with self._world.lock:
            self._fabric.link(switch, port, up)

    def reload_switch(self, switch, seconds=BOOT_SECONDS):
        """Restart a switch with its saved configuration."""
        with self._world.lock:
            self._fabric.switch(switch).reload(float(seconds))
