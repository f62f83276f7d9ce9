# SPDX-License-Identifier: BSD-3-Clause
"""The same memory channels read at the same moments by libuncore, by PAPI's components pcp and uncored, and by `perf
stat` of root.

Ways are nested: each begins to count before the next and ends after it. So none may have counted less than the next, on
any channel, whatever the traffic is. libuncore comes twice, around PAPI and perf, and within them: the difference of
the two is by how much the others may be off.

Of steady traffic more is known. A way reads between two times, so its count is uncertain by the time that both readings
took, as a share of the window between them. This is the error that libuncore states of its own sweeps. The bytes a
second of two ways may differ by the errors of both.
"""
import collections
import dataclasses
import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import time

UP = "pcp:::perfevent.uncored.up"
PAPI_ECLOST = -5
PATIENCE_S = 60
PMUS = pathlib.Path("/sys/bus/event_source/devices")

Channel = collections.namedtuple("Channel", "metric socket pmu event cpu bytes name", defaults=("",))


def papi_name(channel, several=True):
    """PAPI leaves out the name of a single instance."""
    cpu = f":cpu{channel.cpu}" if several else ""
    return f"pcp:::perfevent.hwcounters.{channel.pmu}.{channel.event}.value{cpu}"


def own_name(channel):
    """Of component uncored."""
    return f"uncored:::{channel.metric}:socket={channel.socket}:channel={channel.name}"


def perf_event(channel):
    """As perf names it, and what perf multiplies a count by."""
    scale = PMUS / channel.pmu / "events" / f"{channel.event}.scale"
    return f"{channel.pmu}/{channel.event}/", float(scale.read_text()) if scale.exists() else 1


# --- ways ---

@dataclasses.dataclass
class Reading:
    counts: list  # of all channels; perf stat tells its counts at its end only
    began_ns: int
    ended_ns: int
    sweeps: list = ()  # of each socket, between which times its counters were read, if that is known so closely

    def took_ns(self):
        return self.ended_ns - self.began_ns

    def span(self, socket):
        return self.sweeps[socket] if self.sweeps else (self.began_ns, self.ended_ns)


class Way:
    """Reads when told. Counts are lists, one for each channel, in one order."""

    def __init__(self):
        self.took_ns = []  # of each reading

    def read(self):
        reading = self.read_now()
        self.took_ns.append(reading.took_ns())
        return reading

    def begin(self):
        return self.read()

    def end(self):
        return self.read()

    def counts(self, first, last):
        """Between two readings. Asked when all ways have ended."""
        return [b - a for a, b in zip(first.counts, last.counts)]

    def read_often(self, n):
        """For the time of a reading."""
        self.took_ns.clear()
        for _ in range(n):
            self.read()


class Uncore(Way):
    """uncore-reader."""

    def __init__(self, talk):
        super().__init__()
        self.talk = talk
        self.channels = [Channel(**channel) for channel in json.loads(talk.hear())]

    def read_now(self):
        said = json.loads(self.talk.ask())
        counts = [n_bytes // channel.bytes for channel, n_bytes in zip(self.channels, said["values"])]
        return Reading(counts, said["began_ns"], said["ended_ns"], said["sweeps"])


class Papi(Way):
    """papi-reader, of the channels' events and UP."""

    def __init__(self, talk):
        super().__init__()
        self.talk = talk
        if talk.hear() != "ready":
            raise AssertionError("papi-reader did not start")

    def read_once(self):
        """A reading, and UP."""
        said = json.loads(self.talk.ask())
        if "status" in said:
            raise AssertionError(f"PAPI_read returned {said['status']}")
        *counts, is_up = said["values"]
        return Reading(counts, said["began_ns"], said["ended_ns"]), is_up

    def read_now(self):
        """Where uncored did not answer the agent in time, PAPI gets the last counts, and UP is 0: then once more."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            reading, is_up = self.read_once()
            if is_up:
                return reading
        raise AssertionError("uncored does not answer PCP's agent")


class PapiUncored(Way):
    """papi-reader, of the channels' events in component uncored."""

    def __init__(self, talk, channels):
        super().__init__()
        self.talk, self.channels = talk, channels
        if talk.hear() != "ready":
            raise AssertionError("papi-reader did not start")

    def read_now(self):
        """On a machine whose clock is what it counts, a zero is PAPI_ECLOST until something is counted."""
        end = time.monotonic() + PATIENCE_S
        while True:
            said = json.loads(self.talk.ask())
            if "values" in said:
                counts = [n_bytes // channel.bytes for channel, n_bytes in zip(self.channels, said["values"])]
                return Reading(counts, said["began_ns"], said["ended_ns"])
            if said["status"] != PAPI_ECLOST or time.monotonic() > end:
                raise AssertionError(f"PAPI_read returned {said['status']}")


class PerfStat(Way):
    """perf stat(1), whose counters are switched on and off through FIFOs. It tells its counts when it ends, so a
    reading is switching them on or off."""

    took_ns = []  # of all: one alone is not often switched

    def __init__(self, channels, folder, event=perf_event, start=subprocess.Popen):
        """event(channel): as perf_event(); start: starts a process, as Popen does."""
        words, self.scales = zip(*map(event, channels))
        self.places = [(str(channel.cpu), word) for channel, word in zip(channels, words)]
        self.report = folder / "perf-stat.json"
        self.control, self.answer = (open_fifo(folder / name) for name in ("perf-control", "perf-answer"))
        events = [argument for word in dict.fromkeys(words) for argument in ("-e", word)]
        cpus = ",".join(sorted({cpu for cpu, _ in self.places}))
        self.process = start(
            ["perf", "stat", "-j", "-A", "-C", cpus, "-D", "-1", "-o", self.report, "--control",
             f"fifo:{self.control.name},{self.answer.name}", *events], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.tell("ping")  # and so waits until it is ready

    def begin(self):
        return self.tell("enable")

    def read_now(self):
        return self.tell("disable")

    def read_often(self, n):
        """The counts are of no use afterwards."""
        self.took_ns.clear()
        for _ in range(n):
            self.begin()
            self.end()

    def counts(self, first, last):
        self.close()
        values = values_of_perf(self.report.read_text())
        return [round(values[place] / scale) for place, scale in zip(self.places, self.scales)]

    def tell(self, command):
        began_ns = time.monotonic_ns()
        self.control.write(f"{command}\n".encode())
        answer, end = b"", time.monotonic() + PATIENCE_S
        while b"ack" not in answer:
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"perf stat did not answer '{command}'")
            if select.select([self.answer], [], [], 0.1)[0]:
                answer += self.answer.read(64)
        return Reading([], began_ns, time.monotonic_ns())

    def close(self):
        """Ends perf; for a case that fails before counts(), too."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(PATIENCE_S)
        self.control.close()
        self.answer.close()


def values_of_perf(report):
    """{(CPU, event): value}, of the output of `perf stat -j -A`."""
    said = [json.loads(line) for line in report.splitlines() if line.startswith("{")]
    return {(event["cpu"], event["event"]): float(event["counter-value"]) for event in said}


def open_fifo(path):
    """Open at both ends, so that nobody waits for the other end."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    return open(path, "r+b", buffering=0)


# --- comparing ---

@dataclasses.dataclass
class Measured:
    """What a way counted while the work was done."""
    name: str
    counts: list
    first: Reading
    last: Reading
    took_ns: list     # of many readings
    step_ns: int = 0  # the counters go in steps: so old may a count be

    def window_ns(self, socket):
        """From the middle of one reading to the middle of the other."""
        return (sum(self.last.span(socket)) - sum(self.first.span(socket))) / 2

    def error(self, socket):
        """By how much of itself a count of steady traffic may be off."""
        lengths = [end - begin for begin, end in (self.first.span(socket), self.last.span(socket))]
        return (sum(lengths) / 2 + self.step_ns) / self.window_ns(socket)

    def time_of_read_us(self):
        return statistics.median(self.took_ns) / 1000

    def slow_read_us(self):
        """Of 100 readings 99 were not slower."""
        return sorted(self.took_ns)[len(self.took_ns) * 99 // 100] / 1000


@dataclasses.dataclass
class Comparison:
    channels: list
    ways: list  # the outermost first

    def uncores(self):
        """Both readings of libuncore: the outer and the inner one, which others are compared with."""
        return [way for way in self.ways if way.name == "libuncore"]

    def others(self):
        """The ways between them, the innermost first."""
        outer, inner = self.uncores()
        return self.ways[self.ways.index(outer) + 1:self.ways.index(inner)][::-1]

    def bytes_of(self, way, socket, metric):
        return sum(count * channel.bytes for channel, count in zip(self.channels, way.counts)
                   if (channel.socket, channel.metric) == (socket, metric))

    def wrong_counts(self):
        """A sentence for each count that is not between those around it."""
        for outer, inner in zip(self.ways, self.ways[1:]):
            for channel, most, least in zip(self.channels, outer.counts, inner.counts):
                if least > most:
                    yield (f"{papi_name(channel)}: {least} by {inner.name}, and {most} by {outer.name}, which was read "
                           "around it")

    def by_counts(self, way, socket, metric):
        """Ratio of a way's bytes to libuncore's, and by how much it may be off."""
        outer, inner = (self.bytes_of(uncore, socket, metric) for uncore in self.uncores())
        if not inner:
            return float("nan"), float("inf")
        return self.bytes_of(way, socket, metric) / inner, outer / inner - 1

    def by_time(self, way, socket, metric):
        """The same of their bytes a second, for steady traffic."""
        inner = self.uncores()[-1]
        ratio = self.bytes_of(way, socket, metric) / self.bytes_of(inner, socket, metric)
        most = (1 + way.error(socket)) / (1 - inner.error(socket)) - 1
        return ratio * inner.window_ns(socket) / way.window_ns(socket), most

    def wrong_rates(self):
        """A sentence for each way whose bytes a second differ from libuncore's by more than the errors of both."""
        for socket, metric in sorted({(channel.socket, channel.metric) for channel in self.channels}):
            for way in self.ways:
                ratio, most = self.by_time(way, socket, metric)
                if abs(ratio - 1) > most:
                    yield f"{metric} of socket {socket} by {way.name}: {ratio} of libuncore's, may be off by {most}"

    def uncertainty(self, judge, socket, metric):
        """The largest error that a row of the table may have; judge: Comparison.by_counts or by_time."""
        return max(judge(self, way, socket, metric)[1] for way in self.others())

    def lines(self, judge, rows):
        """The table of these rows (socket, metric)."""
        yield (f"{'socket':6} {'metric':11} {'way':12} {'bytes':>15} {'ratio':>9} {'off by':>9} {'at most':>9} "
               f"{'a reading':>12} {'99 %':>12}")
        for socket, metric in rows:
            for way in [self.uncores()[-1], *self.others()]:
                ratio, most = judge(self, way, socket, metric)
                yield (f"{socket:6} {metric:11} {way.name:12} {self.bytes_of(way, socket, metric):15} {ratio:9.6f} "
                       f"{100 * (ratio - 1):8.4f}% {100 * most:8.4f}% {way.time_of_read_us():9.0f} us "
                       f"{way.slow_read_us():9.0f} us")


def compare(channels, ways, work):
    """ways: (name, way), the outermost first. Does the work between the readings."""
    firsts = [way.begin() for _, way in ways]
    work()
    lasts = [way.end() for _, way in reversed(ways)][::-1]
    return Comparison(channels, [Measured(name, way.counts(first, last), first, last, way.took_ns)
                                 for (name, way), first, last in zip(ways, firsts, lasts)])
