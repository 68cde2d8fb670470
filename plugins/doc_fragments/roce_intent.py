# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a task says how RoCE is to be treated; the spec is ROCE_INTENT in module_utils/fabric/args.py."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  config:
    description:
      - How RoCE is treated on the whole path. Everything else follows from it, for switches, hosts and guests alike.
      - Left out, it is what the defaults say.
    type: dict
    suboptions:
      mode:
        description:
          - V(lossless) lets ports pause the priority instead of dropping its packets. V(semi_lossless) lets switches
            heed the pauses of their peers and send none themselves. V(lossy) relies on ECN alone.
        type: str
        choices: [lossless, semi_lossless, lossy]
        default: lossless
      priority:
        description:
          - Priority of RoCE, 0 to 7. V(0) carries unmarked traffic too, and is refused where it would be paused.
        type: int
        default: 3
      dscp:
        description:
          - DSCP that packets of RoCE carry, 0 to 63. Wherever equipment would give them another priority, it is told.
        type: int
        default: 26
      cnp_priority:
        description:
          - Priority of congestion notifications (CNP). Vendors of adapters differ, some use V(7).
        type: int
        default: 6
      cnp_dscp:
        description:
          - DSCP of congestion notifications. Some tools make adapters send V(4), so look at the adapters too.
        type: int
        default: 48
      trust:
        description:
          - What ports take the priority from. V(both) also heeds the priority in VLAN tags.
        type: str
        choices: [dscp, both]
        default: dscp
      mtu:
        description:
          - MTU of the ports, as the platform counts it. It has to hold 4096 bytes of RoCE with headers.
        type: int
        default: 9216
      bandwidth_percent:
        description:
          - Share of RoCE of what strict queues leave of a port, 1 to 99.
        type: int
        default: 50
      ecn:
        description:
          - How the queue of RoCE marks packets before it fills. Left out, it marks with the defaults.
        type: dict
        suboptions:
          state:
            description:
              - Whether it marks. V(disabled) is for fabrics that pace senders by other means.
            type: str
            choices: [enabled, disabled]
            default: enabled
          min_kb:
            description:
              - Where marking begins, in kB. Left out, V(150), which NVIDIA's presets use.
            type: int
          max_kb:
            description:
              - Where O(config.ecn.probability) is reached, in kB. Left out, V(1500).
            type: int
          probability:
            description:
              - How many percent of the packets are marked at O(config.ecn.max_kb). Left out, V(100).
            type: int
          by_speed:
            description:
              - Other thresholds for ports of some speeds. What an entry leaves out is as above.
            type: list
            elements: dict
            suboptions:
              speed:
                description: Speed of the ports in Gbit/s.
                type: int
                required: true
              min_kb:
                description: Where marking begins, in kB.
                type: int
              max_kb:
                description: Where the probability is reached, in kB.
                type: int
              probability:
                description: How many percent are marked there.
                type: int
      watchdog:
        description:
          - What guards ports from a peer that never stops pausing them. Left out, it is on. Without lossless traffic
            there is nothing to guard.
        type: dict
        suboptions:
          state:
            description: Whether it guards.
            type: str
            choices: [enabled, disabled]
            default: enabled
          detection_ms:
            description: After how long a port counts as stuck. Left out, it stays as the platform has it.
            type: int
          recovery_ms:
            description: After how long a port is tried again. Left out, it stays as the platform has it.
            type: int
          action:
            description: What happens to packets meanwhile. Left out, it stays as the platform has it.
            type: str
            choices: [drop, forward, alert]
      dcbx:
        description:
          - Whether host-facing ports tell adapters these settings by LLDP. V(ieee) makes the switch their owner, V(off)
            leaves them to the adapters, V(ignore) to whoever set it. There must be one owner.
        type: str
        choices: [ignore, ieee, 'off']
        default: ignore
      cable_length_m:
        description:
          - Length of the cables in metres, where the platform sizes its buffers by it. Left out, it stays as it is.
        type: int
"""

    # The same where the rest of a task is about something else, so that the option needs a name that tells.
    # With its type, since ansible-test takes every plain assignment for a text.
    AS_ROCE: str = DOCUMENTATION.replace("  config:", "  roce:").replace("(config.", "(roce.")
