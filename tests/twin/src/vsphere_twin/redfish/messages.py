"""Messages of a Redfish service: the standard registry's, and the vendors' own where clients read them."""

from __future__ import annotations

# Message: (HTTP status, text with the arguments' places, severity, resolution)
BASE = {
    "Success": (200, "The request completed successfully.", "OK", "None."),
    "GeneralError": (500, "A general error has occurred. See ExtendedInfo for more information.", "Critical", "None."),
    "NoValidSession": (
        401,
        "There is no valid session established with the implementation.",
        "Critical",
        "Establish a session before attempting any operations.",
    ),
    "InsufficientPrivilege": (
        403,
        "There are insufficient privileges for the account or credentials associated with the current session to "
        "perform the requested operation.",
        "Critical",
        "Either abandon the operation or change the associated access rights and resubmit the request.",
    ),
    "ResourceMissingAtURI": (
        404,
        "The resource at the URI {0} was not found.",
        "Critical",
        "Place a valid resource at the URI or correct the URI and resubmit the request.",
    ),
    "OperationNotAllowed": (
        405,
        "The HTTP method is not allowed on this resource.",
        "Critical",
        "None.",
    ),
    "MalformedJSON": (
        400,
        "The request body submitted was malformed JSON and could not be parsed by the receiving service.",
        "Critical",
        "Ensure that the request body is valid JSON and resubmit the request.",
    ),
    "PropertyMissing": (
        400,
        "The property {0} is a required property and must be included in the request.",
        "Warning",
        "Ensure that the property is in the request body and has a valid value and resubmit the request.",
    ),
    "PropertyUnknown": (
        400,
        "The property {0} is not in the list of valid properties for the resource.",
        "Warning",
        "Remove the unknown property from the request body and resubmit the request if the operation failed.",
    ),
    "PropertyNotWritable": (
        400,
        "The property {0} is a read only property and cannot be assigned a value.",
        "Warning",
        "Remove the property from the request body and resubmit the request if the operation failed.",
    ),
    "PropertyValueNotInList": (
        400,
        "The value {0} for the property {1} is not in the list of acceptable values.",
        "Warning",
        "Choose a value from the enumeration list that the implementation can support and resubmit the request.",
    ),
    "PropertyValueTypeError": (
        400,
        "The value {0} for the property {1} is of a different type than the property can accept.",
        "Warning",
        "Correct the value for the property in the request body and resubmit the request if the operation failed.",
    ),
    "PropertyValueOutOfRange": (
        400,
        "The value {0} for the property {1} is not in the supported range of acceptable values.",
        "Warning",
        "Correct the value for the property in the request body and resubmit the request if the operation failed.",
    ),
    "ActionParameterNotSupported": (
        400,
        "The parameter {1} for the action with the value {0} is not supported on the target resource.",
        "Warning",
        "Remove the parameter supplied and resubmit the request if the operation failed.",
    ),
    "PreconditionFailed": (
        412,
        "The ETag supplied did not match the ETag required to change this resource.",
        "Critical",
        "Try the operation again using the appropriate ETag.",
    ),
    "PreconditionRequired": (
        428,
        "A precondition header or annotation is required to change this resource.",
        "Critical",
        "Try the operation again using an If-Match or If-None-Match header and appropriate ETag.",
    ),
    "ServiceTemporarilyUnavailable": (
        503,
        "The service is temporarily unavailable.  Retry in {0} seconds.",
        "Critical",
        "Wait for the indicated retry duration and retry the operation.",
    ),
}
# By their meaning: (id or {vendor: id}, status, text, severity, resolution)
OWN = {
    "PendingCommitted": (
        "IDRAC.2.8.SYS011",
        400,
        "Pending configuration values are already committed, unable to perform another set operation.",
        "Warning",
        "Wait for the scheduled job to complete or delete the configuration jobs before attempting more set attribute "
        "operations.",
    ),
    "JobExists": (
        "IDRAC.2.8.RAC052",
        400,
        "A configuration job already exists, unable to create another configuration job.",
        "Warning",
        "Wait for the scheduled job to complete or delete the job before creating another one.",
    ),
    "NothingPending": (
        "IDRAC.2.8.RAC017",
        400,
        "There are no pending values to commit.",
        "Informational",
        "Make sure there are pending configuration values before creating a job.",
    ),
    "AlreadyOn": (
        {"dell": "IDRAC.2.8.PSU501", "hpe": "iLO.2.14.InvalidOperationForSystemState"},
        409,
        "Unable to complete the operation because the server is already powered ON.",
        "Informational",
        "No response action is required.",
    ),
    "AlreadyOff": (
        {"dell": "IDRAC.2.8.PSU502", "hpe": "iLO.2.14.InvalidOperationForSystemState"},
        409,
        "Unable to complete the operation because the server is already powered OFF.",
        "Informational",
        "Power on the server and retry the operation.",
    ),
    "ResetRequired": (
        "iLO.2.14.SystemResetRequired",
        200,
        "The system properties were correctly changed, but will not take effect until the system is reset.",
        "Warning",
        "Reset the system for the settings to take effect.",
    ),
}


class Problem(Exception):
    """An answer that is an error; it may hold several messages."""

    def __init__(self, name, *arguments, attribute=None):
        self.name = name
        self.arguments = arguments
        self.attribute = attribute
        super().__init__(name)


def status_of(name):
    """The HTTP status of a message."""
    return BASE[name][0] if name in BASE else OWN[name][1]


def extended(layout, vendor, name, arguments=(), attribute=None):
    """Return one entry of @Message.ExtendedInfo."""
    if name in BASE:
        _status, text, severity, resolution = BASE[name]
        identity = f"{layout.messages}.{name}"
    else:
        identity, _status, text, severity, resolution = OWN[name]
        if isinstance(identity, dict):
            identity = identity.get(vendor, f"{layout.messages}.GeneralError")
    entry = {
        "@odata.type": "#Message.v1_1_1.Message",
        "MessageId": identity,
        "Message": text.format(*arguments),
        "MessageArgs": [str(one) for one in arguments],
        "Severity": severity,
        "Resolution": resolution,
    }
    if attribute is not None:
        entry["RelatedProperties"] = [f"#/Attributes/{attribute}"]
    return entry


def body(layout, vendor, name, arguments=(), attribute=None):
    """Return the body of an answer with a message; iLO wraps also its successes in an error object."""
    entry = extended(layout, vendor, name, arguments, attribute)
    code, text = f"{layout.messages}.GeneralError", BASE["GeneralError"][1]
    if vendor == "hpe":
        code, text = "iLO.0.10.ExtendedInfo", "See @Message.ExtendedInfo for more information."
    elif name == "Success":
        return {"@Message.ExtendedInfo": [entry]}
    return {"error": {"code": code, "message": text, "@Message.ExtendedInfo": [entry]}}
