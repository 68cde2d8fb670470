# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of the desired RoCE QoS; the spec is ROCE_INTENT in module_utils/fabric/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  config:
    description:
      - Desired RoCE QoS on the whole path. Switches, hosts and guests derive their settings from it.
      - If omitted, the defaults of the suboptions apply.
    type: dict
    suboptions:
      mode:
        description:
          - V(lossless) lets ports pause the priority instead of dropping its packets.
          - V(semi_lossless) lets switches obey the pauses of their peers, but they send none themselves.
          - V(lossy) uses ECN only.
        type: str
        choices: [lossless, semi_lossless, lossy]
        default: lossless
      priority:
        description:
          - Priority of RoCE traffic, 0 to 7. V(0) also carries unmarked traffic. The module rejects it if PFC would
            pause it.
        type: int
        default: 3
      dscp:
        description:
          - DSCP of RoCE packets, 0 to 63. The module reports each device that maps it to another priority.
        type: int
        default: 26
      cnp_priority:
        description:
          - Priority of congestion notification packets (CNP). Adapter vendors differ, and some use V(7).
        type: int
        default: 6
      cnp_dscp:
        description:
          - DSCP of congestion notifications. Some tools configure adapters to send V(4), so check the adapters too.
        type: int
        default: 48
      trust:
        description:
          - Field from which ports take the priority. V(both) also uses the priority in VLAN tags.
        type: str
        choices: [dscp, both]
        default: dscp
      mtu:
        description:
          - MTU of the ports in bytes, as the platform counts it. It must hold 4096 bytes of RoCE plus headers.
        type: int
        default: 9216
      bandwidth_percent:
        description:
          - Bandwidth share of RoCE in percent, 1 to 99. Strict queues are served first, and the share is of the rest.
        type: int
        default: 50
      ecn:
        description:
          - ECN settings of the RoCE queue, which marks packets before it fills. If omitted, the defaults apply.
        type: dict
        suboptions:
          state:
            description:
              - Whether to mark packets. V(disabled) is for fabrics with another congestion control.
            type: str
            choices: [enabled, disabled]
            default: enabled
          min_kb:
            description:
              - Queue length in kB at which marking starts. If omitted, V(150), as in NVIDIA's presets.
            type: int
          max_kb:
            description:
              - Queue length in kB at which marking reaches O(config.ecn.probability). If omitted, V(1500).
            type: int
          probability:
            description:
              - Percentage of packets that are marked at O(config.ecn.max_kb). If omitted, V(100).
            type: int
          by_speed:
            description:
              - Other thresholds by port speed. An entry without a key uses the value above.
            type: list
            elements: dict
            suboptions:
              speed:
                description: Speed of the ports in Gbit/s.
                type: int
                required: true
              min_kb:
                description: Queue length in kB at which marking starts.
                type: int
              max_kb:
                description: Queue length in kB at which marking reaches the probability.
                type: int
              probability:
                description: Percentage of packets that are marked there.
                type: int
      watchdog:
        description:
          - PFC watchdog against a peer that never stops pausing. If omitted, it is on. It has no effect without
            lossless traffic.
        type: dict
        suboptions:
          state:
            description: Whether to enable the watchdog.
            type: str
            choices: [enabled, disabled]
            default: enabled
          detection_ms:
            description: Milliseconds after which a port counts as stuck. If omitted, the platform's value stays.
            type: int
          recovery_ms:
            description: Milliseconds after which the watchdog tries a port again. If omitted, the platform's value
              stays.
            type: int
          action:
            description: Action for packets of a stuck port. If omitted, the platform's value stays.
            type: str
            choices: [drop, forward, alert]
      dcbx:
        description:
          - Whether ports to hosts announce these settings to adapters by DCBX in LLDP. There must be one owner of the
            settings.
          - V(ieee) makes the switch the owner.
          - V(off) makes the adapters the owners.
          - V(ignore) keeps the present setting.
        type: str
        choices: [ignore, ieee, 'off']
        default: ignore
      cable_length_m:
        description:
          - Length of the cables in metres. Some platforms size their buffers by it. If omitted, the present value
            stays.
        type: int
"""

    # The same where the rest of a task is about something else, so that the option needs a longer name.
    # With its type, since ansible-test takes every plain assignment for a text.
    AS_ROCE: str = DOCUMENTATION.replace("  config:", "  roce:").replace("(config.", "(roce.")
