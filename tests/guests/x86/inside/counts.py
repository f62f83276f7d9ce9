# SPDX-License-Identifier: BSD-3-Clause
"""A user sees every count: to the byte, for every box of every socket, through `uncore stat`, through PCP and through
the calls of PAPI."""
import pathlib
import re
import signal
import subprocess

from harness import (Case, HERE, VISITOR, by_program, control, facts, identity, info, is_active, load_machine,
                     metrics_of, run, sockets_of, stat, start_uncored, stop_uncored, sysctl_paranoid, terms, wait_until)

MACHINES = ["sapphire-rapids", "sapphire-rapids-ddr", "granite-rapids", "knl", "zen4"]
BY_PROGRAM = ["icelake-sp", "zen4"]
PLATFORMS = {"sapphire-rapids-ddr": "sapphire-rapids"}
SETTLE_S = 60
PMUS_OF_KERNEL = pathlib.Path("/sys/bus/event_source/devices")


def count_everything(machine):
    """Commands that make every event of every box count a different number, and the bytes of these counts: {(socket,
    metric): bytes}."""
    counted, expected = {}, {}
    for row in facts(machine):
        if not row["terms"]:
            continue
        for socket in sockets_of(row):
            for sign, pmu, config in terms(row["terms"]):
                n = counted.setdefault((pmu, socket, config), 1000 + len(counted) ** 2)
                key = socket, row["metric"]
                expected[key] = expected.get(key, 0) + sign * n * int(row["bytes"])
    commands = [f"add {pmu} {socket} {config:x} {n}" for (pmu, socket, config), n in counted.items()]
    return commands, expected


class FirstClient(Case):
    """The steps of doc/install.md: the socket is enabled, and the first client starts the service."""

    def test_activation(self):
        """enabled and started as doc/install.md says, the socket waits for the first client"""
        for step in ("ldconfig", "systemd-sysusers", "systemctl daemon-reload"):
            run(*step.split())
        sysctl_paranoid(2)
        load_machine("icelake-sp")
        run("systemctl", "enable", "--now", "uncored.socket")
        self.assertTrue(is_active("uncored.socket"))
        self.assertFalse(is_active("uncored.service"))

    def test_first_client(self):
        """a user's `uncore info` starts the service, and is answered as soon as it runs"""
        first = run("uncore", "info", user=VISITOR, check=False)
        self.assertIn("platform icelake-sp" if first.returncode == 0 else "did not answer within",
                      first.stdout + first.stderr)
        wait_until(lambda: is_active("uncored.service"), "uncored has started")
        self.assertIn("platform icelake-sp", run("uncore", "info", user=VISITOR).stdout)


class MachineCase(Case):
    """One subclass for each machine."""

    machine = None

    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        load_machine(cls.machine, PLATFORMS.get(cls.machine))
        start_uncored()

    @classmethod
    def tearDownClass(cls):
        stop_uncored()

    def test_exact(self):
        """`uncore stat` shows a user every count of every box, times its bytes, on its socket"""
        commands, expected = count_everything(self.machine)
        found = metrics_of(stat(commands))
        for (socket, metric), n_bytes in expected.items():
            with self.subTest(socket=socket, metric=metric):
                self.assertEqual(found[socket, metric].get("bytes"), n_bytes)

    def test_quality(self):
        """a value has the flags that the sources ask for, and no others"""
        commands, _ = count_everything(self.machine)
        found = metrics_of(stat(commands))
        for row in facts(self.machine):
            for socket in sockets_of(row) if row["terms"] else ():
                with self.subTest(socket=socket, metric=row["metric"]):
                    self.assertEqual(found[socket, row["metric"]].get("quality"), row["quality"].split())

    def test_absent(self):
        """metrics that this machine does not count are absent, with the reason"""
        found = metrics_of(stat([]))
        for row in facts(self.machine):
            if row["quality"] == "absent":
                with self.subTest(metric=row["metric"]):
                    self.assertEqual(found[0, row["metric"]].get("absent"), row["why"])

    def test_nothing(self):
        """while nothing is counted, everything is 0"""
        values = [value["bytes"] for value in metrics_of(stat([])).values() if "bytes" in value]
        self.assertTrue(values)
        self.assertEqual(set(values), {0})


def machine_case(machine):
    return type(f"Machine_{machine}", (MachineCase,), {"machine": machine, "about": f"{machine}: "})


class AsShipped(machine_case("icelake-sp")):
    def test_method(self):
        """the unit as shipped reads each box by a system call"""
        stat([])
        self.assertEqual([(socket["method"]["name"], socket["method"]["by_program"]) for socket in info()["sockets"]],
                         [("read", 0)] * 2)


class Snapshot(Case):
    """The unit test of these readings, on the memory controllers of socket 0."""

    about = "snapshot: "

    def test_counters(self):
        """10,000 readings of the same counters by both methods in turns: counts, times enabled and running, and flags"""
        sysctl_paranoid(2)
        load_machine("icelake-sp")
        control("rate uncore_imc_? 0 f04 20000", "rate uncore_imc_? 0 3004 7000", "rate uncore_imc_1? 0 f04 100")
        types = [(PMUS_OF_KERNEL / f"uncore_imc_{n}/type").read_text().strip() for n in range(12)]
        run(HERE / "test-snapshot", "f04", "3004", *types)


class Pcp(Case):
    """The agent, registered as doc/monitoring.md says, and PCP's own clients."""

    about = "PCP: "
    machine = "icelake-sp"

    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        load_machine(cls.machine)
        start_uncored()
        run("systemctl", "start", "pmcd")
        run("./Install", "--perfevent-names", cwd="/var/lib/pcp/pmdas/uncore")

    @classmethod
    def tearDownClass(cls):
        run("systemctl", "stop", "pmcd")
        stop_uncored()

    def values(self, metric):
        """The values that pmval shows a user: [socket 0, socket 1]. In an emulated machine a reading can take longer
        than the agent waits; then there is no value yet."""
        rows = []

        def has_come():
            said = run("pmval", "-r", "-f", "0", "-s", "1", "-w", "24", metric, user=VISITOR).stdout
            rows.extend(re.findall(r"^ *(\d+) +(\d+) *$", said, re.M))
            return rows
        wait_until(has_come, f"values of {metric}", SETTLE_S)
        return [int(word) for word in rows[-1]]

    def test_pmval(self):
        """pmval shows a user every count of every box, times its bytes, on its socket"""
        commands, expected = count_everything(self.machine)
        metrics = sorted({metric for _, metric in expected if not metric.startswith("check.")})
        before = {metric: self.values(f"uncore.{metric}") for metric in metrics}
        control(*commands)
        for metric in metrics:
            with self.subTest(metric=metric):
                after = self.values(f"uncore.{metric}")
                self.assertEqual([b - a for a, b in zip(before[metric], after)],
                                 [expected[0, metric], expected[1, metric]])

    def test_papi(self):
        """PAPI's calls show a user the raw counts of every memory controller"""
        counts = {(box, socket, event): 5000 + 100 * box + 10 * socket + config % 7
                  for box in range(12) for socket in range(2)
                  for event, config in (("cas_count_read", 0xf04), ("cas_count_write", 0x3004))}
        configs = {"cas_count_read": "f04", "cas_count_write": "3004"}
        commands = [f"add uncore_imc_{box} {socket} {configs[event]} {n}"
                    for (box, socket, event), n in counts.items()]
        found = self.papi_deltas(commands)
        for (box, socket, event), n in counts.items():
            name = f"perfevent.hwcounters.uncore_imc_{box}.{event}.value:cpu{2 * socket}"
            with self.subTest(event=name):
                self.assertEqual(found.get(name), n)

    def papi_deltas(self, commands):
        """{event: counts since the start} of a reader that runs while these commands are given."""
        path = pathlib.Path("/tmp/papi-client.txt")

        def reads():
            return re.findall(r"^read \d+ (.*)\n", path.read_text(), re.M)
        with open(path, "w", encoding="utf-8") as output:
            client = subprocess.Popen([HERE / "papi-client", "read", "1000000", "50"], stdout=output,
                                      cwd="/", **identity(VISITOR))
        try:
            wait_until(reads, "a first read", SETTLE_S)
            control(*commands)
            enough = len(reads()) + 3
            wait_until(lambda: len(reads()) >= enough, "a read after that", SETTLE_S)
        finally:
            client.send_signal(signal.SIGTERM)
            client.wait(SETTLE_S)
        names = re.findall(r"^event (\S+) ", path.read_text(), re.M)
        return dict(zip(names, map(int, reads()[-1].split())))


CASES = [FirstClient, AsShipped, *map(machine_case, MACHINES), *(by_program(machine_case(name)) for name in BY_PROGRAM),
         Snapshot, Pcp]
