"""AlarmManager: the predefined alarms of vCenter; none of them is ever triggered."""

from __future__ import annotations

from pyVmomi import VmomiSupport, vim

from ..projections.shape import EPOCH, make
from ..registry import method, prop

ALARM = vim.alarm


@method("AlarmManager", "GetAlarm")
def get_alarm(call, this, entity=None):
    if entity is not None and call.resolve(entity) is not call.world.root_folder:
        return []
    return call.world.of_kind("Alarm")


@method("AlarmManager", "GetAlarmState")
def get_alarm_state(call, this, entity):
    call.resolve(entity)
    return []


@prop("Alarm", "info")
def alarm_info(alarm, world):
    return make(
        ALARM.AlarmInfo,
        key=alarm.moid,
        alarm=alarm,
        entity=world.root_folder,
        name=alarm.name,
        systemName=alarm.system_name,
        description=f"Default alarm to monitor: {alarm.name}",
        enabled=True,
        expression=make(ALARM.OrAlarmExpression, expression=[_expression(*alarm.watched)]),
        setting=make(ALARM.AlarmSetting, toleranceRange=0, reportingFrequency=300),
        actionFrequency=0,
        lastModifiedTime=EPOCH,
        lastModifiedUser="",
    )


def _expression(kind, what, yellow=None, red=None):
    watched = VmomiSupport.GuessWsdlType(kind)
    if isinstance(what, str):
        return make(ALARM.StateAlarmExpression, operator="isEqual", type=watched, statePath=what, red="notResponding")
    return make(
        ALARM.MetricAlarmExpression,
        operator="isAbove",
        type=watched,
        metric=make(vim.PerformanceManager.MetricId, counterId=what, instance=""),
        yellow=yellow,
        red=red,
    )
