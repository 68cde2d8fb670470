"""Load of a perftest run on the path between two guests, and the resulting figures."""

from __future__ import annotations

from vsphere_twin.model import ends, rates, traffic

from . import perftest_text as text
from . import rdma_ends

RETRIES, PROTECTION = (12, 0x81), (4, 0x51)  # (status of a completion, the vendor's syndrome)


class Way:
    """Direction and speed of the traffic."""

    def __init__(self, world, options, mine, theirs, server):
        self.world, self.options = world, options
        own, other = rdma_ends.end_of(world, mine), rdma_ends.end_of(world, theirs)
        client, served = (other, own) if server else (own, other)
        # A write goes to the server, a read comes from the server.
        self.sender, self.receiver = (served, client) if options.verb == "read" else (client, served)
        self.state = ends.between(world, self.sender, self.receiver)
        self.back = ends.between(world, self.receiver, self.sender)
        self.gpu, self.refused = "", False
        if mine["cuda"] or theirs["cuda"]:
            kinds = [ends.gpu_way(world, one)[0] for one, has in ((own, mine["cuda"]), (other, theirs["cuda"])) if has]
            self.gpu = "apart" if "apart" in kinds else "near"
            self.refused = "no" in kinds

    def load(self, size, others):
        """Return the load of one size of messages."""
        options = self.options
        return rates.Load(size, options.pairs, options.mtu, options.verb, options.both, others, self.gpu)

    def iterations(self, size, others):
        """Return the number of messages."""
        if not self.options.duration:
            return self.options.iterations * self.options.pairs
        if self.options.latency:
            return int(self.options.duration * 1e6 / (2 * rates.latency_us(self.state, size, self.options.verb)))
        return int(self.options.duration * rates.gbps(self.state, self.load(size, others)) * 1e9 / 8 / size)

    def failure(self):
        """(status, syndrome) of the completion that ends it, or None."""
        if self.refused:
            return PROTECTION
        # A message that is smaller than the path MTU makes one small packet.
        packet = min(self.options.mtu, max(self.options.sizes))
        reached = self.state.reached and self.back.reached
        return None if reached and self.state.passes(packet) and self.back.passes(64) else RETRIES

    def seconds(self, others):
        """Return the duration."""
        if self.failure():
            return 0.6  # eight tries of 67 ms
        if self.options.duration:
            return float(self.options.duration)
        if self.options.latency:
            spent = (2e-6 * rates.latency_us(self.state, size, self.options.verb) for size in self.options.sizes)
            return self.options.iterations * sum(spent)
        octets = {size: size * self.iterations(size, others) for size in self.options.sizes}
        return sum(8e-9 * octets[size] / rates.gbps(self.state, self.load(size, others)) for size in octets)

    def measured(self, size, others, number, server):
        """(row of the table, the same for JSON)."""
        seed = (self.sender.vm.name, self.receiver.vm.name, self.options.verb, size, number)
        times = self.iterations(size, others)
        if self.options.latency:
            return self._times(size, times, seed)
        load = self.load(size, others)
        one_way = rates.noisy(rates.gbps(self.state, load), *seed)
        both = one_way + rates.noisy(rates.gbps(self.back, load), *seed, "back") if self.options.both else one_way
        burst = max(both, rates.noisy(rates.wanted_gbps(self.state, load), *seed) * (1 + self.options.both))
        peak = 0.0 if self.options.no_peak or server else burst * 1.0003
        scale = 1 if self.options.gbits else 1e9 / 8 / 2**20
        values = {"MsgSize": size, "n_iterations": times, "BW_peak": round(peak * scale, 2)}
        values |= {"BW_average": round(both * scale, 2), "MsgRate": round(both / 8e-3 / size, 6)}
        row = text.bandwidth_row(size, times, peak * scale, both * scale, both / 8e-3 / size)
        return row, values

    def _times(self, size, times, seed):
        typical = rates.noisy(rates.latency_us(self.state, size, self.options.verb), *seed)
        random = rates.chance(*seed, "spread")
        worst = typical * random.uniform(3.5, 6) + (rates.of("latency.saving_worst") if self.state.saving else 0)
        mean = typical * (1.12 if self.state.saving else 1.01)
        if self.options.duration:
            values = {"MsgSize": size, "n_iterations": times, "t_avg": round(mean, 2)}
            return text.latency_duration_row(size, times, mean), values
        most = typical * (2.6 if self.state.saving else 1.09)
        figures = (typical * 0.965, worst, typical, mean, (worst - typical) / 40, most, worst * 0.7)
        keys = ("t_min", "t_max", "t_typical", "t_avg", "t_stdev", "percentile_99", "percentile_99.9")
        values = {"MsgSize": size, "n_iterations": times}
        values |= {key: round(one, 2) for key, one in zip(keys, figures, strict=True)}
        return text.latency_row(size, times, figures), values

    def count(self, size, others):
        """Add the run's traffic to the counters."""
        octets = size * self.iterations(size, others)
        load = self.load(size, others)
        traffic.count(self.world, self.sender, self.receiver, self.state, load, octets)
        if self.options.both or self.options.latency:
            traffic.count(self.world, self.receiver, self.sender, self.back, load, octets)
