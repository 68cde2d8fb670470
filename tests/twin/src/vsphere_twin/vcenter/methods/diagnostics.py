"""Self-reports of vCenter and hosts: logs, the TPM, capabilities, start order, sessions' tickets."""

from __future__ import annotations

import hashlib
import secrets

from pyVmomi import vim, vmodl

from ..projections import host_settings, host_system
from ..projections.shape import make
from ..registry import method, prop
from .tasking import resolved

DIAGNOSTIC = vim.DiagnosticManager
PCRS = (0, 1, 2, 3, 4, 5, 6, 7)
LOGS = {True: ("hostd", "vmkernel", "vpxa"), False: ("vpxd:vpxd.log", "vpxd:vpxd-profiler.log")}


@method("DiagnosticManager", "QueryDescriptions")
def query_descriptions(call, this, host=None):
    on_host = resolved(call, host) is not None
    return [
        make(
            DIAGNOSTIC.LogDescriptor,
            key=key,
            fileName=f"/var/log/{key}.log" if on_host else f"/var/log/vmware/vpxd/{key.partition(':')[2]}",
            creator="hostd" if on_host else "vpxd",
            format="plain",
            mimeType="text/plain",
            info=make(vim.Description, label=key, summary=f"{key} log in 'plain' format"),
        )
        for key in LOGS[on_host]
    ]


@method("DiagnosticManager", "BrowseDiagnosticLog")
def browse_log(call, this, key, host=None, start=None, lines=None):
    """vpxd.log is the journal of events; the others are empty."""
    if key not in LOGS[resolved(call, host) is not None]:
        raise vim.fault.CannotAccessFile(msg=f"Unable to access file {key}", file=key)
    if start is not None and start < 0:  # which fault it is, is [unsure]; Go clients would ask again and again
        raise vmodl.fault.InvalidArgument(msg="A specified parameter was not correct: start", invalidProperty="start")
    events = call.world.journal.events if key == "vpxd:vpxd.log" else []
    text = [f"{one.created:%Y-%m-%dT%H:%M:%S.%f}Z info vpxd[1] [{one.kind}] {one.message}" for one in events]
    first = max(1, min(start, len(text) + 1)) if start else 1
    found = text[first - 1 :][: lines or None]
    return make(DIAGNOSTIC.LogHeader, lineStart=first, lineEnd=first + max(0, len(found) - 1), lineText=found)


@method("HostSystem", "QueryTpmAttestationReport")
def tpm_report(call, this):
    """Measurements of the boot: made up from the host and its version, equal as long as both are."""
    values = {one: hashlib.sha256(f"{this.uuid}{this.release.build}{one}".encode()).digest() for one in PCRS}
    return make(
        vim.host.TpmAttestationReport,
        tpmPcrValues=[
            make(
                vim.host.TpmDigestInfo,
                digestMethod="SHA256",
                digestValue=[byte - 256 if byte > 127 else byte for byte in value],
                objectName=f"PCR{number}",
                pcrNumber=number,
            )
            for number, value in values.items()
        ],
        tpmEvents=[
            make(
                vim.host.TpmEventLogEntry,
                pcrIndex=0,
                eventDetails=make(
                    vim.host.TpmVersionEventDetails, dataHash=list(range(32)), dataHashMethod="SHA256", version=b"2.0"
                ),
            )
        ],
        tpmLogReliable=True,
    )


@method("HostSystem", "RetrieveHardwareUptime")
def hardware_uptime(call, this):
    return int((call.world.clocks.now("") - this.boot_time).total_seconds())


@method("EnvironmentBrowser", "QueryTargetCapabilities")
def target_capabilities(call, this, host=None):
    wanted = resolved(call, host)
    owner = this.owner
    hosts = [owner.host] if owner.kind == "VirtualMachine" else list(owner.hosts.values())
    if wanted is not None and wanted not in hosts:
        raise vmodl.fault.InvalidArgument(msg="A specified parameter was not correct: host", invalidProperty="host")
    found = wanted or next(iter(hosts), None)
    return host_system.capability(found, call.world) if found is not None else None


@method("HostAutoStartManager", "ReconfigureAutostart")
def reconfigure_autostart(call, this, spec):
    """Save and show the settings of clients; no VM starts with its host."""
    host = this.host
    for row in spec.powerInfo or []:
        if row.key._moId not in host.vms:
            raise vmodl.fault.InvalidArgument(
                msg="A specified parameter was not correct: spec.powerInfo", invalidProperty="spec.powerInfo"
            )
    if spec.defaults is not None:
        merged = host_settings.autostart(host).defaults
        for info in merged._GetPropertyList():
            if getattr(spec.defaults, info.name) is not None and info.name not in ("dynamicType", "dynamicProperty"):
                setattr(merged, info.name, getattr(spec.defaults, info.name))
        host.autostart["defaults"] = merged
    for row in spec.powerInfo or []:
        host.autostart["order"][row.key._moId] = row
    call.world.touch(this, host)


@prop("HostCertificateManager", "certificateInfo")
def certificate_info(manager, world):
    name = manager.host.name
    return make(
        vim.host.CertificateManager.CertificateInfo,
        issuer="O=VMware Engineering,OU=VMware Engineering,C=US,DC=local,DC=vsphere,CN=CA",
        subject=f"CN={name},O=VMware Engineering,C=US",
        notBefore=manager.host.boot_time,
        notAfter=manager.host.boot_time.replace(year=manager.host.boot_time.year + 5, day=1),
        status="good",
    )


for _name, _kind in (
    ("authManager", "GuestAuthManager"),
    ("fileManager", "GuestFileManager"),
    ("processManager", "GuestProcessManager"),
    ("guestWindowsRegistryManager", "GuestWindowsRegistryManager"),
    ("aliasManager", "GuestAliasManager"),
):
    prop("GuestOperationsManager", _name)(lambda manager, world, kind=_kind: world.of_kind(kind)[0])


@method("SessionManager", "AcquireGenericServiceTicket")
def service_ticket(call, this, spec):
    """A ticket for one request to the address that it names, without the session's cookie."""
    call.require_session()
    if not isinstance(spec, vim.SessionManager.HttpServiceRequestSpec) or not spec.url:
        raise vmodl.fault.InvalidArgument(msg="A specified parameter was not correct: spec", invalidProperty="spec")
    ticket = secrets.token_hex(16)
    # GOVC: clients send it as the cookie vmware_cgi_ticket.
    call.world.service_tickets[ticket] = (spec.method or "httpGet", spec.url, call.session.user)
    return make(vim.SessionManager.GenericServiceTicket, id=ticket)


@method("SessionManager", "AcquireCloneTicket")
def clone_ticket(call, this):
    call.require_session()
    ticket = f"cst-VCT-{secrets.token_hex(16)}"
    call.world.clone_tickets[ticket] = call.session.user
    return ticket


@method("SessionManager", "CloneSession")
def clone_session(call, this, cloneTicket):
    user = call.world.clone_tickets.pop(cloneTicket, None)
    if user is None:
        raise vim.fault.InvalidLogin(msg="Cannot complete login due to an incorrect user name or password.")
    call.session = call.sessions.begin(user, call.client, None)
    call.new_cookie = call.session.key
    return call.session.describe()


@method("CryptoManagerKmip", "ListKmipServers")
def list_kmip_servers(call, this, limit=None):
    return []
