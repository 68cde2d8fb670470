# Copyright: (c) 2026, the aiready.vsphere authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This is private to the collection aiready.vsphere.
"""Read interfaces, addresses and RDMA ports with /bin/sh on a guest, for plugins that read many guests at once."""

from __future__ import annotations

# Lines: net NAME MTU STATE, addr NAME ADDRESS, down DEVICE PORT STATE, gid DEVICE PORT INDEX GID INTERFACE KIND.
REPORT = r"""
for one in /sys/class/net/*; do
  [ -e "$one/mtu" ] && echo "net ${one##*/} $(cat "$one/mtu") $(cat "$one/operstate")"
done
ip -4 -o addr show 2>/dev/null | while read -r _number name _kind address _rest; do echo "addr $name $address"; done
for port in /sys/class/infiniband/*/ports/*; do
  [ -e "$port/state" ] || continue
  device=${port%/ports/*}; device=${device##*/}; number=${port##*/}
  case "$(cat "$port/state")" in *ACTIVE*) ;; *) echo "down $device $number $(cat "$port/state")";; esac
  for gid in "$port"/gids/*; do
    value=$(cat "$gid" 2>/dev/null); index=${gid##*/}
    case "$value" in ''|0000:0000:0000:0000:0000:0000:0000:0000) continue;; esac
    kind=$(cat "$port/gid_attrs/types/$index" 2>/dev/null | tr ' ' _)
    echo "gid $device $number $index $value $(cat "$port/gid_attrs/ndevs/$index" 2>/dev/null) ${kind:--}"
  done
done
"""
