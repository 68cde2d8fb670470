"""The far end of the transport: a GPU that answers nvidia-smi's commands, also in ways that are no rule of the twin."""

from __future__ import annotations

from dataclasses import dataclass, field

from ansible_collections.aiready.vsphere.plugins.module_utils.host.mig.table import GPUS
from ansible_collections.aiready.vsphere.plugins.plugin_utils.remote.commands import Completed

UUID = "GPU-14ac2834-0d81-0508-69eb-e25264c08d21"
COMPUTE_SLICES = {0: 1, 1: 2, 2: 3, 3: 4, 4: 7}
CAPTURED_ORDER = {1: (6, 4, 5, 0, 1, 2, 3), 2: (4, 0, 2, 6), 4: (4, 0), 8: (0,)}


@dataclass
class Device:
    """One GPU and the host around it."""

    model: str = "a100_40gb"
    system: str = "Linux"
    mode: bool = True
    pending: bool | None = None
    # {instance id: [profile id, start, [slices of compute instances]]}
    instances: dict = field(default_factory=dict)
    processes: list = field(default_factory=list)  # (name, pid, GPU instance id or None)
    # What the driver says of it: None, Pass-Through, VGPU, Host VGPU.
    virtualization: str = "None"
    attached: int = 1
    # What is printed about GPUs that do not answer, to which stream, and the return code then.
    complaint: str = ""
    complaint_to: str = "stderr"
    complaint_rc: int = 0
    minor: int | None = None
    # What it says instead of its mode, when it no longer answers.
    mode_word: str = ""
    # Without MIG some drivers may list no placements, and of some GPUs nothing is known beside what they list.
    lists_placements_when_off: bool = True
    takes_placement: bool = True
    order: dict = field(default_factory=lambda: CAPTURED_ORDER)
    switches_at_once: bool = True
    # How often a command that begins so ends with this text: [(words, text, rc, times to let pass, times)]
    refusals: list = field(default_factory=list)
    said: list = field(default_factory=list)
    _next: int = 1

    @property
    def gpu(self):
        return GPUS[self.model]

    @property
    def layout(self):
        """{start: (profile id, slices of compute instances)}"""
        return {start: (profile_id, tuple(compute)) for profile_id, start, compute in self.instances.values()}

    @property
    def commands(self):
        """What was asked of the GPU beside looking."""
        return [argv[1:] for argv in self.said if {"-mig", "-cgi", "-cci", "-dgi", "-dci"} & set(argv)]

    def put(self, profile_id, start, *compute):
        """An instance that is there; returns its id."""
        number, self._next = self._next, self._next + 1
        self.instances[number] = [profile_id, start, list(compute)]
        return number

    def run(self, argv):
        """The transport."""
        argv = [str(word) for word in argv]
        self.said.append(argv)
        if argv[0] == "uname":
            return Completed(tuple(argv), 0, f"{self.system}\n", "")
        text, rc = self._refused(argv) or self._answer(argv)
        if self.complaint and "-x" in argv:
            above, beside = (self.complaint, "") if self.complaint_to == "stdout" else ("", self.complaint)
            return Completed(tuple(argv), self.complaint_rc, above + text, beside)
        return Completed(tuple(argv), rc, text, "")

    def _refused(self, argv):
        for at, (words, text, rc, skip, times) in enumerate(self.refusals):
            if set(words.split()) <= set(argv) and times:
                self.refusals[at] = (words, text, rc, max(0, skip - 1), times - (skip == 0))
                if skip == 0:
                    return text, rc
        return None

    def _answer(self, argv):
        if "-x" in argv:
            return self._document(), 0
        assert argv[argv.index("-i") + 1] == UUID, "a command that names no GPU"
        if "-mig" in argv:
            return self._switch(argv[argv.index("-mig") + 1] == "1")
        if any(word.startswith("--query-gpu") for word in argv):
            return f"{_word(self.mode)}, {_word(self._later())}\n", 0
        return getattr(self, "_" + argv[2].strip("-"))(argv)

    def _document(self):
        gpu = self.gpu
        device, subsystem, name = next(row for row in gpu.pci if row[2])
        rows = "".join(
            f"<process_info><gpu_instance_id>{'N/A' if owner is None else owner}</gpu_instance_id><pid>{pid}</pid>"
            f"<type>C</type><process_name>{name}</process_name></process_info>"
            for name, pid, owner in self.processes
        )
        return (
            "<nvidia_smi_log><driver_version>550.54.16</driver_version>"
            f"<attached_gpus>{self.attached}</attached_gpus>"
            f'<gpu id="00000000:0F:00.0"><product_name>{name}</product_name><uuid>{UUID}</uuid>'
            f"<minor_number>{'N/A' if self.minor is None else self.minor}</minor_number>"
            f"<mig_mode><current_mig>{self.mode_word or _word(self.mode)}</current_mig>"
            f"<pending_mig>{_word(self._later())}</pending_mig></mig_mode>"
            f"<pci><pci_device_id>{device:04X}10DE</pci_device_id><pci_bus_id>00000000:0F:00.0</pci_bus_id>"
            f"<pci_sub_system_id>{subsystem or 0:04X}10DE</pci_sub_system_id></pci>"
            f"<gpu_virtualization_mode><virtualization_mode>{self.virtualization}</virtualization_mode>"
            "</gpu_virtualization_mode>"
            f"<processes>{rows}</processes></gpu></nvidia_smi_log>"
        )

    def _later(self):
        return self.mode if self.pending is None else self.pending

    def _switch(self, enabled):
        if not enabled and self.instances:
            return "Unable to disable MIG Mode: In use by another client\n", 19
        if not self.switches_at_once:
            self.pending = enabled
            return "Warning: MIG mode is in pending enable state for GPU 00000000:0F:00.0:Not Supported\nAll done.\n", 0
        self.mode, self.pending = enabled, None
        return f"{_word(enabled)} MIG Mode for GPU 00000000:0F:00.0\nAll done.\n", 0

    def _lgip(self, argv):
        return "".join(
            f"|   0  MIG {one.name}  {one.id}  0/{one.max_instances}  4.75  No  14  {one.dec or 0}  0  |\n"
            f"|   {one.ce or 0}  {one.jpeg or 0}  {one.ofa or 0}  |\n"
            for one in self.gpu.profiles
        ), 0

    def _lgipp(self, argv):
        if not (self.mode or self.lists_placements_when_off):
            return "No MIG-enabled devices found.\n", 6
        return "".join(
            f"GPU  0 Profile ID {one.id} Placements: {{{','.join(map(str, one.starts))}}}:{one.size}\n"
            for one in self.gpu.profiles
        ), 0

    def _lgi(self, argv):
        if not self.mode:
            return "No MIG-enabled devices found.\n", 0
        if not self.instances:
            return "No GPU instances found: Not Found\n", 6
        rows = ""
        for number, (profile_id, start, _compute) in self.instances.items():
            one = self.gpu.profile(profile_id)
            rows += f"|   0  MIG {one.name}  {profile_id}  {number}  {start}:{one.size}  |\n"
        return rows, 0

    def _lci(self, argv):
        rows = ""
        for number, (profile_id, _start, compute) in self.instances.items():
            one = self.gpu.profile(profile_id)
            for at, slices in enumerate(compute):
                name = one.name if slices == one.compute_slices else f"{slices}c.{one.name}"
                rows += f"|   0  {number}  MIG {name}  0  {at}  {at}:{slices}  |\n"
        return (rows, 0) if rows else ("No compute instances found: Not Found\n", 6)

    def _cgi(self, argv):
        profile, _colon, start = argv[argv.index("-cgi") + 1].partition(":")
        if start and not self.takes_placement:
            return _failed(profile, "Invalid Argument"), 2
        one = self.gpu.profile(int(profile))
        taken = {
            slot for used, at, _c in self.instances.values() for slot in range(at, at + self.gpu.profile(used).size)
        }
        starts = [int(start)] if start else self.order.get(one.size, one.starts)
        for at in starts:
            if at in one.starts and not taken & set(range(at, at + one.size)):
                self.put(one.id, at, *([one.compute_slices] if "-C" in argv else []))
                return (
                    f"Successfully created GPU instance ID  1 on GPU  0 using profile MIG {one.name} (ID {one.id})\n",
                    0,
                )
        return _failed(profile, "Insufficient Resources"), 23

    def _cci(self, argv):
        entry = self.instances[int(argv[argv.index("-gi") + 1])]
        chosen = argv[argv.index("-cci") + 1]
        whole = self.gpu.profile(entry[0]).compute_slices
        entry[2] += [whole] if chosen.startswith("-") else [COMPUTE_SLICES[int(one)] for one in chosen.split(",")]
        return "Successfully created compute instance\n", 0

    def _dci(self, argv):
        self.instances[int(argv[argv.index("-gi") + 1])][2] = []
        return "Successfully destroyed compute instance\n", 0

    def _dgi(self, argv):
        number = int(argv[argv.index("-gi") + 1])
        if self.instances[number][2]:
            return f"Unable to destroy GPU instance ID  {number} from GPU  0: In use by another client\n", 19
        del self.instances[number]
        return f"Successfully destroyed GPU instance ID  {number} from GPU  0\n", 0


def _word(enabled):
    return "Enabled" if enabled else "Disabled"


def _failed(profile, why):
    text = f"Unable to create a GPU instance on GPU  0 using profile {profile}: {why}"
    return f"{text}\nFailed to create GPU instances: {why}\n"
