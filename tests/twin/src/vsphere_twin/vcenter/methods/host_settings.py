"""Services, firewall and advanced options of a host, and vCenter's own options."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from vsphere_twin.model import graphics, kept, snmp
from vsphere_twin.model.host import require_answer

from ..projections import host_settings
from ..projections.shape import make
from ..registry import method
from .host_system import host_method


@host_method("HostDateTimeSystem", "QueryDateTime")
def query_date_time(call, this):
    return call.world.clocks.now(this.host.name)


@host_method("HostDateTimeSystem", "UpdateDateTimeConfig")
def update_date_time(call, this, config):
    """Set the NTP servers; hosts have no other time zone than UTC."""
    kept.refuse_unserved(config, ("ntpConfig", "timeZone"), on=("enabled",))
    kept.require_one_of(config.timeZone, ("UTC",), "config.timeZone")
    if config.ntpConfig is not None:
        kept.refuse_unserved(config.ntpConfig, ("server",))
        this.host.ntp_servers = list(config.ntpConfig.server)
        call.world.touch(this, this.host)


@host_method("HostServiceSystem", "StartService")
def start_service(call, this, id):
    _service(call, this, id).running = True


@host_method("HostServiceSystem", "StopService")
def stop_service(call, this, id):
    _service(call, this, id).running = False


@host_method("HostServiceSystem", "RestartService")
def restart_service(call, this, id):
    _service(call, this, id).running = True
    if id == "xorg":
        graphics.restart_xorg(call.world, this.host)


@host_method("HostServiceSystem", "UpdateServicePolicy")
def update_service_policy(call, this, id, policy):
    _service(call, this, id).policy = policy


@host_method("HostStorageSystem", "RescanAllHba")
@host_method("HostStorageSystem", "RescanVmfs")
@host_method("HostStorageSystem", "RefreshStorageSystem")
def rescan(call, this):
    """Nothing new is found: a datastore of the twin is on its hosts from the start."""
    call.world.touch(this, this.host)


@host_method("HostStorageSystem", "RescanHba")
def rescan_adapter(call, this, hbaDevice):
    if hbaDevice != "vmhba0":
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")
    rescan(call, this)


@host_method("HostDatastoreSystem", "QueryAvailableDisksForVmfs")
def available_disks(call, this, datastore=None):
    """Every disk of the twin has its datastore."""
    return []


@host_method("HostPowerSystem", "ConfigurePowerPolicy")
def configure_power_policy(call, this, key):
    if key not in [policy for policy, _short, _name in host_settings.POLICIES]:
        raise kept.wrong("key")
    this.host.power_policy = key
    call.world.touch(this, this.host)


@method("HostSnmpSystem", "ReconfigureSnmpAgent")
def reconfigure_snmp(call, this, spec):
    snmp.reconfigure(_agent(this), spec)
    call.world.touch(this, this.host)


@method("HostSnmpSystem", "SendTestNotification")
def send_test_notification(call, this):
    """Send a trap; an agent that is off, or has no target, has nowhere to send it ([unsure]: the fault)."""
    agent = _agent(this)
    if not (agent.enabled and agent.targets):
        raise vim.fault.NotFound(msg="The object or item referred to could not be found.")


@host_method("HostServiceSystem", "RefreshServices")
def refresh_services(call, this):
    call.world.touch(this)


@host_method("HostFirewallSystem", "EnableRuleset")
def enable_ruleset(call, this, id):
    _ruleset(call, this, id, True)


@host_method("HostFirewallSystem", "DisableRuleset")
def disable_ruleset(call, this, id):
    _ruleset(call, this, id, False)


@host_method("HostFirewallSystem", "UpdateRuleset")
def update_ruleset(call, this, id, spec):
    if id not in this.host.rulesets:
        raise vim.fault.NotFound(msg=f"The ruleset {id} does not exist.")
    this.host.allowed_hosts[id] = spec.allowedHosts
    call.world.touch(this, this.host)


@host_method("HostFirewallSystem", "RefreshFirewall")
def refresh_firewall(call, this):
    call.world.touch(this)


@method("OptionManager", "QueryOptions")
def query_options(call, this, name=None):
    values = _values(this)
    found = [key for key in sorted(values) if not name or key == name or name.endswith(".") and key.startswith(name)]
    if name and not found:
        raise vim.fault.InvalidName(msg=f"The name '{name}' is not valid.", name=name)
    return [make(vim.option.OptionValue, key=key, value=values[key]) for key in found]


@method("OptionManager", "UpdateOptions")
def update_options(call, this, changedValue):
    call.require_privilege("Host.Config.AdvancedConfig" if hasattr(this, "host") else "Global.Settings", this)
    values = _values(this)
    for option in changedValue:
        _check_option(values, option, of_host=hasattr(this, "host"))
    for option in changedValue:
        values[option.key] = option.value
    call.world.touch(this, *([this.host] if hasattr(this, "host") else []))


def _check_option(values, option, of_host):
    """Refuse an unknown key and a value of another type; vCenter lets users add keys that begin with config. (vCenter
    Server and Host Management, Configure Advanced Settings).
    """
    if option.key not in values:
        if of_host or not option.key.startswith("config."):
            raise vim.fault.InvalidName(msg=f"The name '{option.key}' is not valid.", name=option.key)
        return
    known = values[option.key]
    kinds = (str,) if of_host else (str, bool)  # numbers of hosts are long or int
    if any(isinstance(known, kind) != isinstance(option.value, kind) for kind in kinds):
        raise vmodl.fault.InvalidArgument(
            msg=f"A specified parameter was not correct: {option.key}", invalidProperty=option.key
        )


def _agent(manager):
    if not hasattr(manager, "host"):
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    require_answer(manager.host)
    return manager.host.snmp


def _service(call, manager, key):
    for service in manager.host.services:
        if service.key == key:
            call.world.touch(manager, manager.host)
            return service
    raise vim.fault.NotFound(msg=f"The service {key} does not exist.")


def _ruleset(call, manager, key, enabled):
    if key not in manager.host.rulesets:
        raise vim.fault.NotFound(msg=f"The ruleset {key} does not exist.")
    manager.host.rulesets[key] = enabled
    call.world.touch(manager, manager.host)


def _values(manager):
    if hasattr(manager, "host"):
        require_answer(manager.host)
        return manager.host.options
    values = getattr(manager, "values", None)
    if values is None:
        raise vmodl.fault.NotSupported(msg="The operation is not supported on the object.")
    return values
