"""DRS: automatic actions of a cluster, its rules, and changes of both."""

from __future__ import annotations

from pyVmomi import vim, vmodl

from . import kept

PLACES = ("partiallyAutomated", "fullyAutomated")
APART, TOGETHER, ON_HOSTS, AFTER = (
    vim.cluster.AntiAffinityRuleSpec,
    vim.cluster.AffinityRuleSpec,
    vim.cluster.VmHostRuleInfo,
    vim.cluster.DependencyRuleInfo,  # the order in which HA restarts VMs; the twin has no HA restarts
)
# Overrides of VMs: (field of the spec, attribute of the cluster, field of the info with the VM).
OVERRIDES = (
    ("drsVmConfigSpec", "vm_overrides", "key"),
    ("dasVmConfigSpec", "ha_overrides", "key"),
    ("vmOrchestrationSpec", "orchestration", "vm"),
)
KEPT = (
    "dasConfig",
    "drsConfig",
    "dpmConfig",
    "infraUpdateHaConfig",
    "orchestration",
    "proactiveDrsConfig",
    "vmSwapPlacement",
)
SERVED = (*KEPT, "groupSpec", "rulesSpec", "systemVMsConfig", *(field for field, _attribute, _key in OVERRIDES))
SWAP = ("vmDirectory", "hostLocal")
RATES = range(1, 6)


def behaviour(vm):
    """Return the DRS automation of a VM: off, or the automation level of its cluster or of its own."""
    cluster = vm.host.compute
    level = getattr(cluster, "drs", "off")
    override = cluster.vm_overrides.get(vm.moid) if level != "off" and cluster.honours_overrides else None
    if override is None:
        return level
    return "off" if override.enabled is False else str(override.behavior or level)


def violated(vm, host):
    """The enabled rules that the VM would break by running on a host."""
    cluster = host.compute
    if getattr(cluster, "drs", "off") == "off":
        return []
    return [rule for rule in cluster.rules if rule.enabled and _breaks(cluster, rule, vm, host)]


def refuse_mandatory(vm, host):
    """Refuse violations of a mandatory rule in any case; other rules yield to an explicit request."""
    for rule in violated(vm, host):
        if rule.mandatory:
            raise vim.fault.RuleViolation(
                msg=f"Virtual machine '{vm.name}' on host '{host.name}' would violate the rule '{rule.name}'.",
                host=vim.HostSystem(host.moid),
                rule=rule,
            )


def _breaks(cluster, rule, vm, host):
    if isinstance(rule, ON_HOSTS):
        return _breaks_hosts(cluster, rule, vm, host)
    if isinstance(rule, AFTER):
        return False
    members = {one._moId for one in rule.vm}
    if vm.moid not in members:
        return False
    running = {other.moid: other.host for one in cluster.hosts.values() for other in one.running_vms()}
    others = [where for moid, where in running.items() if moid in members and moid != vm.moid]
    if isinstance(rule, APART):
        return any(where is host for where in others)
    return any(where is not host for where in others)


def _breaks_hosts(cluster, rule, vm, host):
    groups = {group.name: group for group in cluster.groups}
    members = groups.get(rule.vmGroupName)
    if members is None or vm.moid not in {one._moId for one in members.vm}:
        return False
    wanted, shunned = groups.get(rule.affineHostGroupName), groups.get(rule.antiAffineHostGroupName)
    if wanted is not None and host.moid not in {one._moId for one in wanted.host}:
        return True
    return shunned is not None and host.moid in {one._moId for one in shunned.host}


def complies(cluster, rule):
    """Return whether the running VMs comply with a rule."""
    running = [vm for host in cluster.hosts.values() for vm in host.running_vms()]
    return not any(_breaks(cluster, rule, vm, vm.host) for vm in running)


def forget(vm):
    """A VM that goes, or leaves the cluster, goes out of its rules, groups and overrides."""
    cluster = getattr(vm.host, "compute", None)
    if getattr(cluster, "vm_overrides", None) is None:
        return
    cluster.vm_overrides.pop(vm.moid, None)
    cluster.ha_overrides.pop(vm.moid, None)
    cluster.orchestration.pop(vm.moid, None)
    for holder in [*cluster.rules, *cluster.groups]:
        members = getattr(holder, "vm", None) or []
        left = [one for one in members if one._moId != vm.moid]
        if len(left) == len(members):
            continue
        if left or holder in cluster.groups:
            holder.vm = left
        else:  # nothing is left to keep apart or together [unsure: when vSphere removes such a rule]
            cluster.rules = [rule for rule in cluster.rules if rule is not holder]


def configure(world, cluster, spec, modify=True):
    """ReconfigureComputeResource: all of it, or nothing."""
    saved = {
        name: getattr(cluster, name) for name in ("drs", "ha", "rules", "groups", "honours_overrides", "vcls_stores")
    }
    saved.update({name: dict(getattr(cluster, name)) for name in (*_MAPS, "options", "kept")})
    _check(spec)
    try:
        if not modify:
            # Whatever the spec leaves out goes back to its default (ComputeResource API reference, modify).
            cluster.drs, cluster.ha, cluster.rules, cluster.groups = "off", False, [], []
            cluster.vm_overrides, cluster.ha_overrides, cluster.orchestration = {}, {}, {}
            cluster.options, cluster.kept = {}, {}
            cluster.honours_overrides, cluster.vcls_stores = True, {}
        _services(cluster, spec)
        for change in getattr(spec, "groupSpec", None) or []:
            _change_group(world, cluster, change)
        for field, attribute, key in OVERRIDES:
            for change in getattr(spec, field, None) or []:
                _change_override(world, cluster, change, getattr(cluster, attribute), field, key)
        for change in getattr(spec, "rulesSpec", None) or []:
            _change_rule(world, cluster, change)
        _change_vcls(world, cluster, getattr(spec, "systemVMsConfig", None))
    except vmodl.MethodFault:
        for name, value in saved.items():
            setattr(cluster, name, value)
        raise
    world.touch(cluster)


_MAPS = tuple(attribute for _field, attribute, _key in OVERRIDES)


def _check(spec):
    """Refuse what the twin would drop, and values that no cluster can have."""
    vsan = getattr(spec, "vsanConfig", None)
    if vsan is None or vsan.enabled:
        kept.refuse_unserved(spec, SERVED)
    else:
        kept.refuse_unserved(spec, (*SERVED, "vsanConfig"))
    kept.require_one_of(getattr(spec, "vmSwapPlacement", None), SWAP, "spec.vmSwapPlacement")
    drs, dpm = getattr(spec, "drsConfig", None), getattr(spec, "dpmConfig", None)
    for value, place in (
        (drs and drs.vmotionRate, "drsConfig.vmotionRate"),
        (dpm and dpm.hostPowerActionRate, "dpmConfig.hostPowerActionRate"),
    ):
        if value is not None and value not in RATES:
            raise kept.wrong(f"spec.{place}")


def _services(cluster, spec):
    kept.keep(cluster.kept, spec, KEPT)
    drs, das = getattr(spec, "drsConfig", None), getattr(spec, "dasConfig", None)
    if drs is not None:
        on = cluster.drs != "off" if drs.enabled is None else drs.enabled
        level = drs.defaultVmBehavior or (cluster.drs if cluster.drs != "off" else "fullyAutomated")
        cluster.drs = str(level) if on else "off"
        if drs.enableVmBehaviorOverrides is not None:
            cluster.honours_overrides = bool(drs.enableVmBehaviorOverrides)
        for option in drs.option or []:
            cluster.options[option.key] = option.value
    if das is not None and das.enabled is not None:
        cluster.ha = das.enabled


def _change_override(world, cluster, change, overrides, field, holder):
    key = change.removeKey if change.operation == "remove" else getattr(change.info, holder, None)
    if key is None or (change.operation == "add") == (key._moId in overrides):
        raise kept.wrong(f"spec.{field}")
    if change.operation == "remove":
        del overrides[key._moId]
        return
    _require_members(world, cluster, [key], f"spec.{field}")
    if isinstance(change.info, vim.cluster.DrsVmConfigInfo) and change.info.enabled is None:
        change.info.enabled = True  # vCenter's default: clients read it without a check
    before = overrides.get(key._moId)
    if before is not None:
        for info in before._GetPropertyList():
            if getattr(change.info, info.name) is None:
                setattr(change.info, info.name, getattr(before, info.name))
    overrides[key._moId] = change.info


def _change_vcls(world, cluster, wanted):
    """Change the datastores that the VMs of vCLS may have; they must be those of the hosts ([unsure]: the fault)."""
    if wanted is None:
        return
    kept.refuse_unserved(wanted, ("allowedDatastores",))
    stores, place = dict(cluster.vcls_stores), "spec.systemVMsConfig.allowedDatastores"
    known = {moid for host in cluster.hosts.values() for moid in host.datastores}
    for change in wanted.allowedDatastores or []:
        key = change.removeKey if change.operation == "remove" else change.datastore
        moid = getattr(key, "_moId", None)
        if change.operation not in ("add", "remove") or (change.operation == "add") == (moid in stores):
            raise kept.wrong(place)
        if change.operation == "remove":
            del stores[moid]
        elif moid not in known:
            raise kept.wrong(place)
        else:
            stores[moid] = world.get(moid)
    cluster.vcls_stores = stores


def _change_rule(world, cluster, change):
    wanted = change.removeKey if change.operation == "remove" else getattr(change.info, "key", None)
    known = next((rule for rule in cluster.rules if rule.key == wanted), None)
    if change.operation != "add" and known is None or change.operation != "remove" and change.info is None:
        raise kept.wrong("spec.rulesSpec")
    left = [rule for rule in cluster.rules if rule is not known]
    if change.operation == "remove":
        cluster.rules = left
        return
    rule = change.info
    if change.operation == "edit":
        _fill_from(rule, known)
    _check_rule(world, cluster, rule, left if change.operation == "edit" else cluster.rules)
    if change.operation == "add":
        rule.key = cluster.next_rule_key()
        rule.ruleUuid = world.new_uuid("rule")
        rule.userCreated = True
        cluster.rules = [*cluster.rules, rule]
    else:
        cluster.rules = [rule if one is known else one for one in cluster.rules]
    rule.status = "green"
    rule.enabled, rule.mandatory = bool(rule.enabled), bool(rule.mandatory)


def _fill_from(rule, known):
    if type(rule) is not type(known):
        raise kept.wrong("spec.rulesSpec")
    for info in known._GetPropertyList():
        value = getattr(rule, info.name)
        if value is None or isinstance(value, list) and not value:
            setattr(rule, info.name, getattr(known, info.name))


def _check_rule(world, cluster, rule, others):
    if not rule.name or type(rule) not in (APART, TOGETHER, ON_HOSTS, AFTER):
        raise kept.wrong("spec.rulesSpec")
    if any(one.name == rule.name for one in others):
        raise vim.fault.DuplicateName(
            msg=f"The name '{rule.name}' already exists.",
            name=rule.name,
            object=vim.ClusterComputeResource(cluster.moid),
        )
    if isinstance(rule, AFTER):
        known = {group.name for group in cluster.groups if isinstance(group, vim.cluster.VmGroup)}
        if not {rule.vmGroup, rule.dependsOnVmGroup} <= known:
            raise kept.wrong("spec.rulesSpec")
        return
    if isinstance(rule, ON_HOSTS):
        known = {group.name for group in cluster.groups}
        named = {rule.vmGroupName, rule.affineHostGroupName, rule.antiAffineHostGroupName} - {None, ""}
        if not named or named - known:
            raise kept.wrong("spec.rulesSpec")
        return
    if len({one._moId for one in rule.vm or []}) < 2:
        raise kept.wrong("spec.rulesSpec")
    _require_members(world, cluster, rule.vm, "spec.rulesSpec")


def _change_group(world, cluster, change):
    name = change.removeKey if change.operation == "remove" else getattr(change.info, "name", None)
    known = next((group for group in cluster.groups if group.name == name), None)
    if not name or (change.operation == "add") == (known is not None):
        raise kept.wrong("spec.groupSpec")
    if isinstance(change.info, vim.cluster.VmGroup):
        _require_members(world, cluster, change.info.vm or [], "spec.groupSpec")
    left = [group for group in cluster.groups if group is not known]
    cluster.groups = left if change.operation == "remove" else [*left, change.info]


def _require_members(world, cluster, references, place):
    for one in references:
        vm = world.get(one._moId)
        if vm is None or vm.kind != "VirtualMachine" or getattr(vm.host, "compute", None) is not cluster:
            raise kept.wrong(place)
