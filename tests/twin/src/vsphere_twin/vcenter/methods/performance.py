"""PerformanceManager: the counters that there are, and samples that follow from the model."""

from __future__ import annotations

import datetime

from pyVmomi import vim, vmodl

from vsphere_twin.model import resources

from ..projections.shape import make
from ..registry import method, prop

PERF = vim.PerformanceManager
REAL_TIME_S = 20
INTERVALS = ((1, "Past day", 300, 86_400), (2, "Past week", 1_800, 604_800), (3, "Past month", 7_200, 2_592_000))
INTERVALS += ((4, "Past year", 86_400, 31_536_000),)
MOST_SAMPLES = 180  # an hour of real-time samples, as a host keeps them
# number: (group, name, roll-up, unit, kind of statistic, label); numbers and units of a captured vCenter (GOVC).
COUNTERS = {
    2: ("cpu", "usage", "average", "percent", "rate", "Usage"),
    6: ("cpu", "usagemhz", "average", "megaHertz", "rate", "Usage in MHz"),
    12: ("cpu", "ready", "summation", "millisecond", "delta", "Ready"),
    24: ("mem", "usage", "average", "percent", "absolute", "Usage"),
    98: ("mem", "consumed", "average", "kiloBytes", "absolute", "Consumed"),
    125: ("disk", "usage", "average", "kiloBytesPerSecond", "rate", "Usage"),
    143: ("net", "usage", "average", "kiloBytesPerSecond", "rate", "Usage"),
    155: ("sys", "uptime", "latest", "second", "absolute", "Uptime"),
}
UNITS = {
    "percent": "%",
    "megaHertz": "MHz",
    "millisecond": "ms",
    "kiloBytes": "KB",
    "kiloBytesPerSecond": "KBps",
    "second": "s",
}
GROUPS = {"cpu": "CPU", "mem": "Memory", "disk": "Disk", "net": "Network", "sys": "System"}
IDLE = 100  # hundredths of a percent that an idle machine uses


@prop("PerformanceManager", "perfCounter")
def counters(manager, world):
    return [_counter(number) for number in COUNTERS]


@prop("PerformanceManager", "historicalInterval")
def intervals(manager, world):
    return [
        make(vim.HistoricalInterval, key=key, name=name, samplingPeriod=period, length=length, level=1, enabled=True)
        for key, name, period, length in INTERVALS
    ]


@prop("PerformanceManager", "description")
def description(manager, world):
    def described(keys):
        return [make(vim.ElementDescription, key=key, label=key, summary=key) for key in keys]

    return make(
        vim.PerformanceDescription,
        counterType=described(("average", "latest", "summation")),
        statsType=described(("absolute", "delta", "rate")),
    )


@method("PerformanceManager", "QueryPerfCounter")
def query_counter(call, this, counterId):
    unknown = [number for number in counterId if number not in COUNTERS]
    if unknown:
        raise _wrong("counterId")
    return [_counter(number) for number in counterId]


@method("PerformanceManager", "QueryPerfCounterByLevel")
def query_counter_by_level(call, this, level):
    return [_counter(number) for number in COUNTERS]


@method("PerformanceManager", "QueryPerfProviderSummary")
def provider_summary(call, this, entity):
    real_time = call.resolve(entity).kind in ("HostSystem", "VirtualMachine")
    return make(
        PERF.ProviderSummary,
        entity=entity,
        currentSupported=real_time,
        summarySupported=True,
        refreshRate=REAL_TIME_S if real_time else None,
    )


@method("PerformanceManager", "QueryAvailablePerfMetric")
def available_metric(call, this, entity, beginTime=None, endTime=None, intervalId=None):
    numbers = _numbers_of(call.resolve(entity), intervalId)
    return [make(PERF.MetricId, counterId=number, instance="") for number in numbers]


@method("PerformanceManager", "QueryPerf")
def query_perf(call, this, querySpec):
    return [one for spec in querySpec if (one := _samples(call, spec)) is not None]


def _samples(call, spec):
    """Return the last samples of an entity: its present state, as if it had not changed; none for a stopped one."""
    entity = call.resolve(spec.entity)
    period = spec.intervalId or (INTERVALS[0][2] if _is_cluster(entity) else REAL_TIME_S)
    if period not in (REAL_TIME_S, *(row[2] for row in INTERVALS)):
        raise _wrong("querySpec.interval")
    wanted = [one.counterId for one in spec.metricId or []] or list(COUNTERS)
    if any(number not in COUNTERS for number in wanted):
        raise _wrong("querySpec.metricId")
    available = _numbers_of(entity, period)
    numbers = [number for number in wanted if number in available]
    if not numbers:
        return None
    end = spec.endTime or datetime.datetime.now(datetime.timezone.utc)
    count = min(spec.maxSample or 1, MOST_SAMPLES)
    times = [end - datetime.timedelta(seconds=period * back) for back in range(count - 1, -1, -1)]
    series = [
        (make(PERF.MetricId, counterId=number, instance=""), [_value(entity, number)] * count) for number in numbers
    ]
    if spec.format == "csv":
        stamps = ",".join(f"{period},{time:%Y-%m-%dT%H:%M:%SZ}" for time in times)
        rows = [make(PERF.MetricSeriesCSV, id=id_, value=",".join(map(str, values))) for id_, values in series]
        return make(PERF.EntityMetricCSV, entity=spec.entity, sampleInfoCSV=stamps, value=rows)
    return make(
        PERF.EntityMetric,
        entity=spec.entity,
        sampleInfo=[make(PERF.SampleInfo, timestamp=time, interval=period) for time in times],
        value=[make(PERF.IntSeries, id=id_, value=values) for id_, values in series],
    )


def _is_cluster(entity):
    return entity.kind == "ClusterComputeResource"


def _numbers_of(entity, period):
    """The counters of an entity; clusters have those of processors and memory, and no real-time ones."""
    if not _runs(entity) or _is_cluster(entity) and period == REAL_TIME_S:
        return []
    return [number for number, row in COUNTERS.items() if not _is_cluster(entity) or row[0] in ("cpu", "mem")]


def _runs(entity):
    if _is_cluster(entity):
        return any(map(_runs, entity.hosts.values()))
    return (
        entity.kind == "HostSystem"
        and entity.reachable
        or entity.kind == "VirtualMachine"
        and entity.power == "poweredOn"
    )


def _value(entity, number):
    """A machine does nothing but hold its memory; a cluster is the sum of its hosts, or their mean of a percentage."""
    if _is_cluster(entity):
        values = [_value(host, number) for host in entity.hosts.values() if _runs(host)]
        return sum(values) // (len(values) if COUNTERS[number][3] == "percent" else 1)
    host = entity if entity.kind == "HostSystem" else entity.host
    mhz = host.hardware.mhz * (host.hardware.cores if entity is host else entity.cpus)
    memory_mb = host.hardware.memory_gb * 1024
    used_mb = 4096 + sum(resources.required_mb(vm) for vm in host.running_vms()) if entity is host else entity.memory_mb
    whole_mb = memory_mb if entity is host else entity.memory_mb
    begun = host.boot_time if entity is host else entity.booted
    uptime = int((datetime.datetime.now(datetime.timezone.utc) - begun).total_seconds()) if begun else 0
    return {
        2: IDLE,
        6: mhz * IDLE // 10_000,
        24: min(10_000, used_mb * 10_000 // whole_mb),
        98: used_mb * 1024,
        155: uptime,
    }.get(number, 0)


def _counter(number):
    group, name, rollup, unit, kind, label = COUNTERS[number]

    def described(key, text):
        return make(vim.ElementDescription, key=key, label=text, summary=text)

    return make(
        PERF.CounterInfo,
        key=number,
        nameInfo=described(name, label),
        groupInfo=described(group, GROUPS[group]),
        unitInfo=described(unit, UNITS[unit]),
        rollupType=rollup,
        statsType=kind,
        level=1,
        perDeviceLevel=3,
    )


def _wrong(place):
    return vmodl.fault.InvalidArgument(msg=f"A specified parameter was not correct: {place}", invalidProperty=place)
