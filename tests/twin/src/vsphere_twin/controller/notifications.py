"""Notification templates: what AWX 24.6.1 accepts, compared with its API. [sure]"""

from __future__ import annotations

import re

from .refused import Refused

_KINDS = {"string": str, "password": str, "int": int, "bool": bool, "list": list, "object": dict}
# Type -> {setting: (kind, default)}. A setting without a default is required.
_EMAIL = {
    "host": ("string",),
    "port": ("int",),
    "username": ("string",),
    "password": ("password",),
    "use_tls": ("bool",),
    "use_ssl": ("bool",),
    "sender": ("string",),
    "recipients": ("list",),
    "timeout": ("int", 30),
}
_WEBHOOK = {
    "url": ("string",),
    "http_method": ("string", "POST"),
    "disable_ssl_verification": ("bool", False),
    "username": ("string", ""),
    "password": ("password", ""),
    "headers": ("object",),
}
_SNS = ("aws_region", "aws_access_key_id", "sns_topic_arn")
_SETTINGS = {
    "awssns": {
        **dict.fromkeys(_SNS, ("string", "")),
        **dict.fromkeys(("aws_secret_access_key", "aws_session_token"), ("password", "")),
    },
    "email": _EMAIL,
    "grafana": {"grafana_url": ("string",), "grafana_key": ("password",)},
    "irc": {
        "server": ("string",),
        "port": ("int",),
        "nickname": ("string",),
        "password": ("password",),
        "use_ssl": ("bool",),
        "targets": ("list",),
    },
    "mattermost": {"mattermost_url": ("string",), "mattermost_no_verify_ssl": ("bool",)},
    "pagerduty": {
        "subdomain": ("string",),
        "token": ("password",),
        "service_key": ("string",),
        "client_name": ("string",),
    },
    "rocketchat": {"rocketchat_url": ("string",), "rocketchat_no_verify_ssl": ("bool",)},
    "slack": {"token": ("password",), "channels": ("list",)},
    "twilio": {
        "account_sid": ("string",),
        "account_token": ("password",),
        "from_number": ("string",),
        "to_numbers": ("list",),
    },
    "webhook": _WEBHOOK,
}
_EVENTS = ("started", "success", "error", "workflow_approval")
_ANSWERS = ("running", "approved", "timed_out", "denied")
# Names that a message may use, as AWX renders it when it saves the template. It has no artifacts then.
_COUNTS = ("skipped", "ok", "changed", "failures", "dark", "failed", "processed", "rescued", "ignored")
_OF_A_JOB = (
    *("allow_simultaneous", "controller_node", "created", "custom_virtualenv", "description", "diff_mode", "elapsed"),
    *("execution_node", "failed", "finished", "force_handlers", "forks", "id", "job_explanation", "job_slice_count"),
    *("job_slice_number", "job_tags", "job_type", "launch_type", "limit", "modified", "name", "playbook", "scm_branch"),
    *("scm_revision", "skip_tags", "start_at_task", "started", "status", "timeout", "type", "url", "use_fact_cache"),
    "verbosity",
)
_KNOWN = {
    "job": {**dict.fromkeys(_OF_A_JOB), "artifacts": {}, "host_status_counts": dict.fromkeys(_COUNTS)},
    **dict.fromkeys(
        ("job_friendly_name", "url", "approval_status", "approval_node_name", "workflow_url", "job_metadata")
    ),
}
_EXPRESSION = re.compile(r"\{\{-?\s*([a-zA-Z_]\w*(?:\.[a-zA-Z_]\w*)*)\s*(?:\|(?!\s*default)[^}]*)?-?\}\}")
_SET = re.compile(r"\{%-?\s*set\s+(\w+)")
_CONDITION = re.compile(r"\{% *if [^%]* is defined[^%]*%\}.*?\{% *endif *%\}", re.DOTALL)


def check(values):
    """Reject settings and messages that AWX rejects; settings with a default get it."""
    problems = list(_problems(_SETTINGS[values["notification_type"]], values["notification_configuration"]))
    if problems:
        raise Refused(400, {"__all__": problems})
    values["messages"] = {**dict.fromkeys(_EVENTS), **(values["messages"] or {})}
    check_messages(values["messages"])


def check_messages(messages):
    """Reject messages that AWX rejects."""
    problems = [text for event, one in messages.items() for text in _of_event(event, one)]
    if problems:
        raise Refused(400, {"messages": problems})


def secrets_of(kind):
    """The settings of a type that the API returns hidden."""
    return {name for name, (what, *_default) in _SETTINGS[kind].items() if what == "password"}


def _problems(settings, given):
    missing, wrong = [], []
    for name, (kind, *default) in settings.items():
        if name not in given:
            if not default:
                missing.append(name)
                continue
            given[name] = default[0]
        value = given[name]
        if type(value) is not _KINDS[kind]:
            wrong.append((name, kind))
        elif kind == "list" and not value:
            yield f"No values specified for field '{name}'"
        elif name == "http_method" and value.lower() not in ("put", "post"):
            yield "HTTP method must be either 'POST' or 'PUT'."
    if missing:
        yield f"Missing required fields for Notification Configuration: {missing}."
    for name, kind in wrong:
        yield f"Configuration field '{name}' incorrect type, expected {kind}."


def _of_event(event, given):
    if event not in _EVENTS:
        yield f"Event '{event}' invalid, must be one of 'started', 'success', 'error', or 'workflow_approval'"
    elif given is None:
        return
    elif not isinstance(given, dict):
        yield f"Expected dict for event '{event}', found {type(given)}"
    elif event != "workflow_approval":
        yield from _of_texts(event, given)
    else:
        for answer, texts in given.items():
            if answer not in _ANSWERS:
                words = "must be one of 'running', 'approved', 'timed_out', or 'denied'"
                yield f"Workflow Approval event '{answer}' invalid, {words}"
            elif texts is not None and not isinstance(texts, dict):
                yield f"Expected dict for workflow approval event '{answer}', found {type(texts)}"
            elif texts is not None:
                yield from _of_texts(event, texts)


def _of_texts(event, texts):
    for kind, text in texts.items():
        if kind not in ("message", "body"):
            yield f"Message type '{kind}' invalid, must be either 'message' or 'body'"
        elif text is None:
            continue
        elif not isinstance(text, str):
            yield f"Expected string for '{kind}', found {type(text)}, "
        elif kind == "message" and "\n" in text:
            yield f"Messages cannot contain newlines (found newline in {event} event)"
        elif text.count("{{") != text.count("}}"):
            yield f"Unable to render message '{text}': unexpected end of template"
        else:
            # The twin has no Jinja. It compares the names in expressions that no condition protects.
            own = _SET.findall(text)
            for path in _EXPRESSION.findall(_CONDITION.sub("", text)):
                if path not in own:
                    yield from _unknown(path)


def _unknown(path):
    known = _KNOWN
    for name in path.split("."):
        if name == "summary_fields":
            return
        if known is None or name not in known:
            yield f"Field '{name}' unavailable"
            return
        known = known[name]
