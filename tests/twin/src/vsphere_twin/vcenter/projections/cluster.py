"""Clusters: configuration of DRS and HA, their rules, groups and overrides."""

from __future__ import annotations

from pyVmomi import vim

from vsphere_twin.model import drs, kept

from ..registry import prop
from .inventory import compute_summary
from .shape import make


@prop("ClusterComputeResource", "summary")
def cluster_summary(cluster, world):
    return compute_summary(
        cluster,
        vim.ClusterComputeResource.Summary,
        currentFailoverLevel=max(0, len(cluster.hosts) - 1) if cluster.ha else 0,
        numVmotions=0,
        targetBalance=200,
        currentBalance=0,
        usageSummary=None,
        currentEVCModeKey=cluster.evc.mode,
    )


@prop("ClusterComputeResource", "summaryEx")
def cluster_summary_ex(cluster, world):
    return cluster_summary(cluster, world)


@prop("ClusterComputeResource", "configuration")
def cluster_configuration(cluster, world):
    return make(
        vim.cluster.ConfigInfo,
        dasConfig=_das(cluster),
        drsConfig=_drs(cluster),
        rule=_rules(cluster),
        dasVmConfig=list(cluster.ha_overrides.values()),
        drsVmConfig=_overrides(cluster),
    )


for _name in ("recommendation", "drsRecommendation", "migrationHistory", "actionHistory", "drsFault"):
    prop("ClusterComputeResource", _name)(lambda cluster, world: [])


def _overrides(cluster):
    return list(cluster.vm_overrides.values())


def _rules(cluster):
    for rule in cluster.rules:
        rule.inCompliance = drs.complies(cluster, rule)
    return cluster.rules


def _das(cluster):
    """The settings of HA: kept ones over those of a new cluster."""
    shown = make(
        vim.cluster.DasConfigInfo,
        enabled=cluster.ha,
        vmMonitoring="vmMonitoringDisabled",
        hostMonitoring="enabled",
        failoverLevel=1,
        admissionControlEnabled=cluster.ha,
        admissionControlPolicy=make(vim.cluster.FailoverLevelAdmissionControlPolicy, failoverLevel=1),
        defaultVmSettings=make(
            vim.cluster.DasVmSettings,
            restartPriority="medium",
            isolationResponse="none",
            vmToolsMonitoringSettings=make(
                vim.cluster.VmToolsMonitoringSettings,
                enabled=False,
                failureInterval=30,
                minUpTime=120,
                maxFailures=3,
                maxFailureWindow=3600,
            ),
        ),
        hBDatastoreCandidatePolicy="allFeasibleDsWithUserPreference",
    )
    return kept.overlay(shown, cluster.kept.get("dasConfig"))


def _drs(cluster):
    """The settings of DRS: those that have a rule over kept ones."""
    shown = make(
        vim.cluster.DrsConfigInfo,
        enabled=cluster.drs != "off",
        enableVmBehaviorOverrides=cluster.honours_overrides,
        defaultVmBehavior=cluster.drs if cluster.drs != "off" else "manual",
        vmotionRate=3,
    )
    shown = kept.overlay(shown, cluster.kept.get("drsConfig"))
    shown.enabled = cluster.drs != "off"
    shown.option = [make(vim.option.OptionValue, key=key, value=value) for key, value in cluster.options.items()]
    return shown


@prop("ClusterComputeResource", "configurationEx")
def configuration_ex(cluster, world):
    shown = make(
        vim.cluster.ConfigInfoEx,
        vmSwapPlacement="vmDirectory",
        dasConfig=_das(cluster),
        drsConfig=_drs(cluster),
        rule=_rules(cluster),
        group=cluster.groups,
        dasVmConfig=list(cluster.ha_overrides.values()),
        drsVmConfig=_overrides(cluster),
        dpmConfigInfo=make(
            vim.cluster.DpmConfigInfo, enabled=False, defaultDpmBehavior="manual", hostPowerActionRate=3
        ),
        vsanConfigInfo=make(
            vim.vsan.cluster.ConfigInfo,
            enabled=False,
            defaultConfig=make(vim.vsan.cluster.ConfigInfo.HostDefaultInfo, autoClaimStorage=False),
        ),
        proactiveDrsConfig=make(vim.cluster.ProactiveDrsConfigInfo, enabled=False),
        infraUpdateHaConfig=make(vim.cluster.InfraUpdateHaConfigInfo, enabled=False),
        orchestration=make(
            vim.cluster.OrchestrationInfo,
            defaultVmReadiness=make(vim.cluster.VmReadiness, readyCondition="none", postReadyDelay=0),
        ),
        vmOrchestration=list(cluster.orchestration.values()),
        systemVMsConfig=make(vim.cluster.SystemVMsConfigInfo, allowedDatastores=list(cluster.vcls_stores.values())),
    )
    others = {name: value for name, value in cluster.kept.items() if name not in ("dasConfig", "drsConfig")}
    return kept.show(shown, others, {"dpmConfig": "dpmConfigInfo"})
