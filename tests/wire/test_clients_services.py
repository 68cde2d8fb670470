"""The services of a vCenter that clients of all kinds ask: events, tasks, alarms, statistics, licences, tickets."""

from __future__ import annotations

import pytest
from pyVmomi import vim, vmodl

from .any_client import lab

LICENCE = "AAAAA-BBBBB-CCCCC-DDDDD-EEEEE"


@pytest.fixture(scope="module")
def client():
    with lab() as started:
        yield started


ALWAYS = [  # fmt: skip
    "alarmManager",
    "authorizationManager",
    "certificateManager",
    "clusterProfileManager",
    "complianceManager",
    "cryptoManager",
    "customFieldsManager",
    "customizationSpecManager",
    "datastoreNamespaceManager",
    "diagnosticManager",
    "dvSwitchManager",
    "eventManager",
    "extensionManager",
    "failoverClusterConfigurator",
    "failoverClusterManager",
    "fileManager",
    "guestCustomizationManager",
    "guestOperationsManager",
    "healthUpdateManager",
    "hostProfileManager",
    "hostSpecManager",
    "ioFilterManager",
    "ipPoolManager",
    "licenseManager",
    "localizationManager",
    "overheadMemoryManager",
    "ovfManager",
    "perfManager",
    "scheduledTaskManager",
    "searchIndex",
    "serviceManager",
    "sessionManager",
    "setting",
    "snmpSystem",
    "storageResourceManager",
    "taskManager",
    "tenantManager",
    "userDirectory",
    "vStorageObjectManager",
    "viewManager",
    "virtualDiskManager",
    "vmCompatibilityChecker",
    "vmProvisioningChecker",
]
ON_HOSTS = [  # fmt: skip
    "advancedOption",
    "autoStartManager",
    "bootDeviceSystem",
    "certificateManager",
    "cpuScheduler",
    "datastoreSystem",
    "dateTimeSystem",
    "diagnosticSystem",
    "esxAgentHostManager",
    "firewallSystem",
    "firmwareSystem",
    "graphicsManager",
    "healthStatusSystem",
    "iscsiManager",
    "kernelModuleSystem",
    "memoryManager",
    "networkSystem",
    "pciPassthruSystem",
    "serviceSystem",
    "storageSystem",
    "virtualNicManager",
    "vmotionSystem",
]


def test_the_managers_that_a_vcenter_always_has_are_there(client):
    assert [name for name in ALWAYS if getattr(client.content, name) is None] == []
    assert client.content.accountManager is None  # a host's alone
    ids = {name: getattr(client.content, name)._moId for name in ("diagnosticManager", "complianceManager")}
    assert ids == {"diagnosticManager": "DiagMgr", "complianceManager": "MoComplianceManager"}


def test_the_managers_of_a_host_and_of_guests_are_there(client):
    manager = client.host().configManager
    assert [name for name in ON_HOSTS if getattr(manager, name) is None] == []
    guests = client.content.guestOperationsManager
    assert all((guests.authManager, guests.fileManager, guests.processManager, guests.aliasManager))


def test_alarms_are_defined_on_the_root_folder(client):
    manager, root = client.content.alarmManager, client.content.rootFolder
    names = {alarm.info.systemName for alarm in manager.GetAlarm()}
    assert {"alarm.HostConnectionStateAlarm", "alarm.VmCPUUsageAlarm"} <= names
    assert {alarm.info.systemName for alarm in manager.GetAlarm(root)} == names
    assert not manager.GetAlarm(client.vm())
    assert all(alarm.info.entity == root for alarm in manager.GetAlarm())
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        manager.GetAlarm(vim.VirtualMachine("vm-1"))


def test_a_host_reports_what_its_tpm_measured(client):
    host = client.host()
    report = host.QueryTpmAttestationReport()
    assert [one.pcrNumber for one in report.tpmPcrValues] == list(range(8))
    assert all(len(one.digestValue) == 32 for one in report.tpmPcrValues)
    assert report.tpmEvents
    assert (host.summary.tpmAttestation.status, host.capability.tpmVersion) == ("accepted", "2.0")


def test_a_browser_says_what_its_hosts_can(client):
    browser = client.find(vim.ClusterComputeResource, "gpu").environmentBrowser
    assert browser.QueryTargetCapabilities().vmotionSupported
    assert (
        browser.QueryTargetCapabilities(client.host()).maxSupportedVcpus == client.host().capability.maxSupportedVcpus
    )
    assert client.vm().environmentBrowser.QueryTargetCapabilities().maintenanceModeSupported
    with pytest.raises(vmodl.fault.ManagedObjectNotFound):
        browser.QueryTargetCapabilities(vim.HostSystem("host-1"))


def test_statistics_follow_from_the_model(client):
    manager = client.content.perfManager
    names = {f"{one.groupInfo.key}.{one.nameInfo.key}.{one.rollupType}": one.key for one in manager.perfCounter}
    assert names["cpu.usage.average"] == 2
    assert [one.samplingPeriod for one in manager.historicalInterval] == [300, 1800, 7200, 86400]
    host, metric = client.host(), vim.PerformanceManager.MetricId(counterId=names["mem.consumed.average"], instance="")
    assert {one.counterId for one in manager.QueryAvailablePerfMetric(host)} == set(names.values())
    assert not manager.QueryAvailablePerfMetric(client.vm("train-02"))  # it is off
    spec = vim.PerformanceManager.QuerySpec(entity=host, metricId=[metric], intervalId=20, maxSample=3)
    (found,) = manager.QueryPerf([spec])
    assert len(found.sampleInfo) == len(found.value[0].value) == 3
    assert found.value[0].value[0] > 0
    spec.format = "csv"
    (text,) = manager.QueryPerf([spec])
    assert text.value[0].value.count(",") == 2
    for wrong in ({"intervalId": 7}, {"metricId": [vim.PerformanceManager.MetricId(counterId=9999, instance="")]}):
        with pytest.raises(vmodl.fault.InvalidArgument):
            manager.QueryPerf([vim.PerformanceManager.QuerySpec(entity=host, **wrong)])


def test_a_host_gets_other_ntp_servers(client):
    clock, config = client.host().configManager.dateTimeSystem, vim.host.DateTimeConfig
    clock.UpdateDateTimeConfig(config(ntpConfig=vim.host.NtpConfig(server=["a.example", "b.example"])))
    assert clock.dateTimeInfo.ntpConfig.server == ["a.example", "b.example"]
    assert client.read(client.host(), "config.dateTimeInfo")["config.dateTimeInfo"].ntpConfig.server[0] == "a.example"
    with pytest.raises(vmodl.fault.InvalidArgument):
        clock.UpdateDateTimeConfig(config(timeZone="Europe/Berlin"))
    with pytest.raises(vmodl.fault.NotSupported):
        clock.UpdateDateTimeConfig(config(protocol="ptp"))


def test_a_cluster_has_statistics_of_the_past_only(client):
    manager, cluster = client.content.perfManager, client.find(vim.ClusterComputeResource, "gpu")
    assert 6 in {one.counterId for one in manager.QueryAvailablePerfMetric(cluster, intervalId=300)}
    assert not manager.QueryAvailablePerfMetric(cluster, intervalId=20)
    metrics = [vim.PerformanceManager.MetricId(counterId=number, instance="") for number in (6, 24, 143)]

    def read(entity, period):
        spec = vim.PerformanceManager.QuerySpec(entity=entity, metricId=metrics, intervalId=period, maxSample=1)
        return {row.id.counterId: row.value[0] for one in manager.QueryPerf([spec]) for row in one.value}

    hosts = [read(host, 20) for host in cluster.host]
    whole = read(cluster, 300)
    assert whole == {6: sum(one[6] for one in hosts), 24: sum(one[24] for one in hosts) // len(hosts)}
    assert not read(cluster, 20)


def test_extensions_come_and_go(client):
    manager = client.content.extensionManager
    assert manager.FindExtension("com.vmware.vim.eam").company == "VMware, Inc."
    assert manager.FindExtension("com.example") is None
    text = vim.Description(label="example", summary="example")
    made = vim.Extension(
        key="com.example", version="1", description=text, lastHeartbeatTime=client.service.CurrentTime()
    )
    manager.RegisterExtension(made)
    assert "com.example" in [one.key for one in manager.extensionList]
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.RegisterExtension(made)
    manager.UnregisterExtension("com.example")
    with pytest.raises(vim.fault.NotFound):
        manager.UnregisterExtension("com.example")


def test_licences_are_assigned_to_hosts_and_the_vcenter(client):
    manager = client.content.licenseManager
    assigned = manager.licenseAssignmentManager
    names = [one.entityDisplayName for one in assigned.QueryAssignedLicenses()]
    assert names == ["vCenter Server", "esx-01.lab.example", "esx-02.lab.example"]
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.AddLicense("no key")
    manager.AddLicense(LICENCE)
    host = client.host()._moId
    assigned.UpdateAssignedLicense(host, LICENCE)
    (row,) = assigned.QueryAssignedLicenses(host)
    assert (row.assignedLicense.licenseKey, row.assignedLicense.used) == (LICENCE, 1)
    with pytest.raises(vim.fault.ResourceInUse):
        manager.RemoveLicense(LICENCE)
    assigned.RemoveAssignedLicense(host)
    manager.RemoveLicense(LICENCE)
    with pytest.raises(vim.fault.NotFound):
        manager.RemoveLicense(LICENCE)


def test_logs_are_read_line_by_line(client):
    manager = client.content.diagnosticManager
    assert "vpxd:vpxd.log" in [one.key for one in manager.QueryDescriptions()]
    assert "hostd" in [one.key for one in manager.QueryDescriptions(client.host())]
    page = manager.BrowseDiagnosticLog(key="vpxd:vpxd.log", start=1, lines=1)
    assert (page.lineStart, page.lineEnd, len(page.lineText)) == (1, 1, 1)
    with pytest.raises(vim.fault.CannotAccessFile):
        manager.BrowseDiagnosticLog(key="none")
    with pytest.raises(vmodl.fault.InvalidArgument, match="start"):
        manager.BrowseDiagnosticLog(host=client.host(), key="hostd", start=-3, lines=500)


def test_a_browser_gives_the_guests_of_the_query(client):
    browser, spec = client.vm().environmentBrowser, vim.EnvironmentBrowser.ConfigOptionQuerySpec
    found = browser.QueryConfigOptionEx(spec(guestId=["ubuntu64Guest", "otherGuest64"])).guestOSDescriptor
    assert [one.id for one in found] == ["ubuntu64Guest", "otherGuest64"]
    for key in ("ubuntu64Guest", "vmx-99"):
        with pytest.raises(vmodl.fault.InvalidArgument, match="key"):
            browser.QueryConfigOptionEx(spec(key=key))


def test_the_rules_of_the_firewall_have_their_ports(client):
    rules = {
        row.key: {(rule.direction, rule.protocol, rule.port) for rule in row.rule}
        for row in client.host().config.firewall.ruleset
    }
    assert rules["sshServer"] == {("inbound", "tcp", 22)}
    assert rules["ntpClient"] == {("outbound", "udp", 123)}
    assert rules["vMotion"] == {("inbound", "tcp", 8000), ("outbound", "tcp", 8000)}


def test_the_start_order_of_a_host_is_kept(client):
    manager, vm = client.host().configManager.autoStartManager, client.vm()
    kind = vim.host.AutoStartManager
    row = kind.AutoPowerInfo(
        key=vm, startOrder=1, startDelay=5, waitForHeartbeat="no", startAction="powerOn", stopDelay=5, stopAction="none"
    )
    manager.ReconfigureAutostart(kind.Config(defaults=kind.SystemDefaults(enabled=True), powerInfo=[row]))
    assert (manager.config.defaults.enabled, manager.config.defaults.startDelay) == (True, 120)
    assert [one.key for one in manager.config.powerInfo] == [vm]
    row.key = client.vm("train-02")
    with pytest.raises(vmodl.fault.InvalidArgument):
        manager.ReconfigureAutostart(kind.Config(powerInfo=[row]))


@pytest.mark.parametrize(
    "verb, path, status", [("GET", "t.txt", 200), ("PUT", "t.txt", 401), ("GET", "other.txt", 401)]
)
def test_a_service_ticket_opens_one_address_once(client, verb, path, status):
    address = "/folder/{}?dcPath=lab&dsName=datastore-01"
    for name in ("t.txt", "other.txt"):
        client.ask("PUT", address.format(name), b"text", {"Cookie": client.cookie})
    url = f"https://esx-01.lab.example{address.format('t.txt')}".replace("dcPath=lab&", "")
    spec = vim.SessionManager.HttpServiceRequestSpec(method="httpGet", url=url)
    ticket = {"Cookie": f"vmware_cgi_ticket={client.content.sessionManager.AcquireGenericServiceTicket(spec).id}"}
    asked = address.format(path).replace("dcPath=lab&", "")
    assert client.ask(verb, asked, None if verb == "GET" else b"x", ticket)[0] == status
    if status == 200:
        assert client.ask(verb, asked, headers=ticket)[0] == 401


def test_a_session_is_cloned_by_a_ticket_once(client):
    ticket = client.content.sessionManager.AcquireCloneTicket()
    text = '<CloneSession xmlns="urn:vim25"><_this type="SessionManager">SessionManager</_this>'
    body = f"{text}<cloneTicket>{ticket}</cloneTicket></CloneSession>"
    body = f'<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>{body}</Body></Envelope>'.encode()
    assert rb"VSPHERE.LOCAL\Administrator" in client.ask("POST", "/sdk", body)[2]
    assert b"InvalidLogin" in client.ask("POST", "/sdk", body)[2]
