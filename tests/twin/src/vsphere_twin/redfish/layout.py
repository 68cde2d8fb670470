"""Differences between the vendors' Redfish services: names of members, paths of settings, behaviour."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """One vendor's service."""

    manufacturer: str
    product: str
    system: str
    manager: str
    chassis: str
    settings: str  # below the system
    registry: str  # where the attribute registry is; {} is its id
    slash: bool = False  # whether the service writes addresses with a slash at their end
    bios_writable: bool = False  # PATCH on the active resource is taken for the settings
    whole_settings: bool = False  # True if the settings resource shows all attributes and not only the changes
    if_match: bool = False  # whether PATCH needs If-Match
    jobs: bool = False
    messages: str = "Base.1.12"

    def path(self, *parts):
        """The address of a resource."""
        return "/".join(("/redfish/v1", *parts)) + ("/" if self.slash else "")

    @property
    def system_path(self):
        return ("Systems", self.system)

    @property
    def manager_path(self):
        return ("Managers", self.manager)


LAYOUTS = {
    "dell": Layout(
        manufacturer="Dell Inc.",
        product="Integrated Dell Remote Access Controller",
        system="System.Embedded.1",
        manager="iDRAC.Embedded.1",
        chassis="System.Embedded.1",
        settings="Bios/Settings",
        registry="Systems/System.Embedded.1/Bios/BiosRegistry",
        jobs=True,
    ),
    "hpe": Layout(
        manufacturer="HPE",
        product="ProLiant DL380 Gen10 Plus",
        system="1",
        manager="1",
        chassis="1",
        settings="Bios/Settings",
        registry="RegistryStore/registries/en/{}",
        slash=True,
        whole_settings=True,
        messages="Base.1.4",
    ),
    "supermicro": Layout(
        manufacturer="Supermicro",
        product="SYS-420GP-TNR",
        system="1",
        manager="1",
        chassis="1",
        settings="Bios/SD",
        registry="Registries/BiosAttributeRegistry.v1_0_0.json",
        bios_writable=True,
        whole_settings=True,
    ),
    "other": Layout(
        manufacturer="Contoso",
        product="Contoso G4",
        system="Self",
        manager="Self",
        chassis="Self",
        settings="Bios/SD",
        registry="Registries/{}.json",
        if_match=True,
    ),
}
