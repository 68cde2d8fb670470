"""Cisco NX-OS: show commands of maps, queues and pauses."""

from __future__ import annotations

from .nxos_rules import QUEUING


def declare(grammar):
    """Add them to the commands of a session."""
    for patterns, handler in (
        (("show queuing interface [ <names:ports> ]",), _queuing),
        (("show policy-map [ type kind=qos|network-qos|queuing ] [ <name:WORD> ]",), _policy_maps),
        (("show policy-map system [ type kind=qos|network-qos|queuing ]",), _system),
        (("show policy-map interface [ <names:ports> ]",), _policies_of_ports),
        (("show class-map [ type kind=qos|network-qos|queuing ] [ <name:WORD> ]",), _class_maps),
    ):
        grammar.on("exec", *patterns)(handler)


def _queuing(cli, names=None):
    text, row = "", "+" + "-" * 67 + "+"
    for name in cli.ports(names):
        counters, found = cli.switch.ports[name].counters, cli.device.treatment(name)
        policy, _section = cli.device.policy(name, "queuing", "output")
        level = "Interface" if cli.config.find(("interface", name)).get(("policy", "queuing", "output")) else "System"
        text += f"\nEgress Queuing for {name} [{level}]\n{'-' * 78}\nTemplate: {policy}\n"
        text += "QoS-Group# Bandwidth% PrioLevel                Shape                   QLimit\n"
        text += "                                   Min          Max        Units   \n" + "-" * 78 + "\n"
        for number in range(7, -1, -1):
            level = 1 if number in found.strict else "-"
            share = found.shares.get(number, "-" if number in found.strict else 0)
            text += (
                f"      {number:>3}        {share!s:>3}         {level} "
                "          -            -     -            9(D)\n"
            )
        for number in range(8):
            text += (
                f"{row}\n|{f'QOS GROUP {number}':^67}|\n{row}\n|                   | Unicast       |Multicast      |\n"
            )
            sent, lost = counters[f"tx_packets_{number}"], counters[f"tx_drops_{number}"]
            text += f"|        Tx Pkts |{sent:>16}|   Dropped Pkts |{lost:>16}|\n"
            if number in found.marking:
                mark = "ECN Pkts" if found.marking[number].mark else "WRED/AFD Drop Pkts"
                text += f"| {mark} |{counters[f'ecn_marked_{number}']:>16}|\n"
        text += (
            f"{row}\n\nPort Egress Statistics\n{'-' * 56}\nWRED Drop Pkts                {counters['wred_drops']:>14}\n"
        )
        text += f"\nIngress Queuing for {name}\n{'-' * 56}\nPort Ingress Statistics\n{'-' * 56}\n"
        text += (
            f"Ingress MMU Drop Pkts         {counters['ingress_drops']:>14}\n"
            f"Ingress MMU Drop Bytes        {counters['ingress_drops'] * 1500:>14}\n"
        )
        text += _pfc_statistics(name, counters, found)
    return text


def _pfc_statistics(name, counters, found):
    row = "-" * 76
    rx, tx = (sum(counters[f"{way}_pause_{n}"] for n in range(8)) for way in ("rx", "tx"))
    text = f"\nPFC Statistics\n{row}\nTxPPP: {tx:>21}, RxPPP: {rx:>19}\n{row}\n"
    text += "COS QOS Group        PG   TxPause   TxCount         RxPause         RxCount\n"
    for number in range(8):
        group = number if number in found.pauses_sent else "-"
        states = ["Active" if counters[f"{way}_pausing{number}"] else "Inactive" for way in ("tx", "rx")]
        text += (
            f"  {number} {group!s:>9} {group!s:>9}  {states[0]:<8} {counters[f'tx_pause_{number}']:>10} "
            f"       {states[1]:<8} {counters[f'rx_pause_{number}']:>15}\n"
        )
    return f"{text}{row}\n"


def _policy_maps(cli, kind=None, name=None):
    text = ""
    for what in [kind] if kind else ["qos", "queuing", "network-qos"]:
        text += f"\n\n  Type {what} policy-maps\n  {'=' * 22}\n"
        for one in cli.policies(what):
            if name in (None, one):
                text += _policy_text(cli, what, one)
    return text


def _policy_text(cli, kind, name):
    text = f"\n  policy-map type {kind} {name}\n"
    for key, (header, section) in cli.config.find(("policy-map", kind, name)).sections.items():
        text += f"    {header.replace('class ', f'class type {kind} ') if kind == 'qos' else header}\n"
        text += "".join(f"      {line}\n" for line, _value in section.lines.values() if key)
    return text


def _system(cli, kind=None):
    text, system = "", cli.config.find("system qos")
    for what, way in (("network-qos", None), ("queuing", "output"), ("qos", "input")):
        if kind in (None, what):
            name = system.get(("policy", what, way)) if system is not None else None
            text += f"\n\n  Type {what} policy-maps\n  {'=' * 32}\n"
            text += _policy_text(cli, what, name) if name else f"\n  policy-map type {what} {_default(what)}\n"
    return text


def _default(kind):
    return {"network-qos": "default-nq-8q-policy", "queuing": "default-8q-out-policy"}.get(kind, "default-in-policy")


def _policies_of_ports(cli, names=None):
    text = "\n\nGlobal statistics status :   enabled\n"
    for name in cli.ports(names):
        text += f"\n{name}\n"
        for kind, way in (("qos", "input"), ("queuing", "output")):
            policy, section = cli.device.policy(name, kind, way)
            if policy is None or (kind == "qos" and "trust" in cli.switch.dead_features):
                continue
            text += f"\n  Service-policy ({kind}) {way}:   {policy} \n    SNMP Policy Index:  285212992\n"
            for one in section.kept("class") if section is not None else QUEUING:
                text += _class_of_port(cli, kind, one, section)
    return text


def _class_of_port(cli, kind, name, policy):
    """Return the match criteria and actions of a policy's class."""
    own = cli.config.find(("class-map", kind, name))
    how = own.get("how", "match-any") if own is not None else "match-any"
    text = f"\n    Class-map ({kind}):   {name} ({how})\n"
    if own is not None:
        text += "".join(f"      Match: {line.removeprefix('match ')}\n" for line, _value in own.lines.values() if line)
    if policy is None:
        return text + ("      priority level 1\n" if name == "c-out-8q-q7" else _factory_share(name))
    for key, (line, _value) in policy.find(("class", name)).lines.items():
        if key != "wred" or "ecn" not in cli.switch.dead_features:
            text += f"      {line}\n"
    return text


def _factory_share(name):
    return f"      bandwidth remaining percent {100 if name.endswith('default') else 0}\n"


def _class_maps(cli, kind=None, name=None):
    text = ""
    for what in [kind] if kind else ["qos", "queuing", "network-qos"]:
        text += f"\n\n  Type {what} class-maps\n  {'=' * 22}\n"
        for key, (header, section) in cli.config.sections.items():
            if key[:2] == ("class-map", what) and name in (None, key[2]):
                text += f"\n    {header}\n" + "".join(f"      {line}\n" for line, _v in section.lines.values() if line)
    return text
