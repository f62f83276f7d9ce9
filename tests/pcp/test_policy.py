# SPDX-License-Identifier: BSD-3-Clause
"""The site's policy holds for pmcd's clients as it does for uncored's own: each client is told what it could have read
itself, and no more."""
import json
import os
import signal

from harness import DOMAIN, Case, build_root, n_sockets, run_cases
from processes import NOBODY, as_user, port_of, wait_until
from reading import NO_PERMISSION, TRY_AGAIN_WORDS, is_served, values_of

READ, SWEEPS, QUALITY = "uncore.dram.read", "uncore.sample.sweeps", "uncore.quality_text"
QUANTUM = "uncore.daemon.quantum"
UP, REASON = "uncore.daemon.up", "uncore.daemon.reason"
PAPI_UP = "perfevent.uncored.up"
FAULTS = "perfevent.hwcounters.uncore_standin_0.page_faults.value"
ALICE, BOB, ROOT, STAFF = 1234, 1235, 0, 777
OF_ROOT = {"uid": ROOT, "pmda_options": "-U root"}
MIB, PAGES = 1 << 20, 1000


def touch_pages(pcp):
    """On every socket."""
    for cpu in range(n_sockets()):
        pcp.run("touch-pages", PAGES, cpu)


def ask(client):
    """The values of a pcp-fetch that stays connected; on a busy machine there may be none for a moment."""
    def answer():
        values = json.loads(client.ask())["values"]
        return values if is_served(values) else None

    return wait_until(answer, 10, "the agent has values")


class Policy(Case):
    def serve(self, config, **options):
        pcp = self.new_pcp()
        pcp.start_uncored(config=config)
        pcp.start_pmcd(perfevent=True, **options)
        return pcp

    def assert_told(self, pcp, **who):
        values = pcp.served_values(READ, SWEEPS, UP, who=as_user(**who))
        self.assertIsInstance(values[READ], dict, who)
        self.assertIsInstance(values[SWEEPS], dict, who)
        self.assertEqual(values[UP], {"-1": 1}, who)

    def assert_refused(self, pcp, words, **who):
        values = pcp.served_values(READ, SWEEPS, QUALITY, UP, who=as_user(**who))
        self.assertEqual([values[name] for name in (READ, SWEEPS, QUALITY)],
                         [NO_PERMISSION] * 3, who)
        self.assertEqual(values[UP], {"-1": 0}, who)
        reason = pcp.run("pminfo", "-f", REASON, who=as_user(**who)).stdout
        self.assertRegex(reason, words)


class Rules(Policy):
    title = "the site's rules: "

    def test_none(self):
        """without any, everybody is told, also over the network"""
        pcp = self.serve("")
        for uid in (NOBODY, ALICE, ROOT):
            self.assert_told(pcp, uid=uid)
        self.assertIsInstance(self.over_the_network(pcp)[READ], dict)

    def test_users(self):
        """a list of users holds, for root as well, in each form of the agent"""
        for agent in ("pipe", "socket", "dso"):
            pcp = self.serve(f"[access]\nusers = {NOBODY}\n", agent=agent)
            self.assert_told(pcp, uid=NOBODY)
            self.assert_refused(pcp, f"User {ALICE} is not among the users", uid=ALICE)
            self.assert_refused(pcp, "Root may connect to uncored itself, but another program", uid=ROOT)
            self.assert_told(pcp, uid=NOBODY)

    def test_network(self):
        """a client that comes over the network has no name, and is told what everybody is told only"""
        pcp = self.serve(f"[access]\nusers = {NOBODY}\n")
        values = self.over_the_network(pcp)
        self.assertIn("No permission", values[READ])
        self.assertEqual(values[UP], 0)
        self.assertIn("An unknown user is not among the users", values[REASON])

    def over_the_network(self, pcp):
        host = f"127.0.0.1:{port_of(pcp.pmcd.pid)}"
        return wait_until(lambda: self.answer(pcp, host), 10, "the agent has values")

    @staticmethod
    def answer(pcp, host):
        values = values_of(pcp.run("pminfo", "-f", "-h", host, READ, UP, REASON,
                                   env={"PMCD_PORT": ""}).stdout)
        return None if TRY_AGAIN_WORDS in values[READ] else values

    def test_group(self):
        """any group of a client counts, even of hundreds, and no name of a group is looked up"""
        pcp = self.serve(f"[access]\ngroup = {NOBODY}\n")
        self.assert_told(pcp, uid=NOBODY)
        self.assert_told(pcp, uid=ALICE, groups=[STAFF, NOBODY])
        self.assert_told(pcp, uid=ALICE, groups=[*range(3000, 3300), NOBODY])
        self.assert_refused(pcp, "is not in the group", uid=ALICE, groups=[STAFF])
        self.assert_refused(pcp, "is not in the group", uid=ALICE, groups=range(3000, 3300))

    def test_admits(self):
        """pmdauncore --admits tells whom they let read, by its status and in words"""
        pcp = self.new_pcp()

        def ask(user):
            done = pcp.run("pmdauncore", "--admits", user, check=False, who=as_user(ROOT))
            return done.returncode, done.stdout

        self.assertEqual(ask("*")[0], 2)  # there is no uncored
        pcp.start_uncored()
        self.assertEqual([ask(user) for user in ("*", "root")], [(0, "")] * 2)
        self.assertEqual(ask("nobody-knows"), (2, "There is no such user.\n"))
        pcp.reload_uncored(f"[access]\nusers = {NOBODY}\n")
        self.assertEqual(ask("nobody"), (0, ""))
        for user in ("*", "root"):
            status, why = ask(user)
            self.assertEqual(status, 1)
            self.assertIn("The rule is users in [access]", why)

    def test_other_user(self):
        """an agent that pmcd cannot start as the user that -U names says so in its log"""
        pcp = self.serve("", pmda_options="-U root")
        self.assert_told(pcp, uid=ALICE)
        log = (pcp.folder / "log/uncore.log").read_text(encoding="utf-8")
        self.assertIn(f"should run as root, but pmcd started it as user {NOBODY}", log)

    def test_mode(self):
        """the permissions of the socket hold, too"""
        pcp = self.serve(f"[access]\nmode = 0660\ngroup = {NOBODY}\n")
        self.assert_told(pcp, uid=ALICE, groups=[NOBODY])
        self.assert_refused(pcp, "by the permissions of its socket. The rule is mode", uid=BOB)


    def test_mode_changes(self):
        """permissions that are tightened hold for clients that are connected, and for later ones"""
        pcp = self.serve("", **OF_ROOT)
        client = pcp.talk_to("pcp-fetch", "0", "0", READ, who=as_user(ALICE))
        self.assertIsInstance(ask(client)[READ], dict)
        pcp.reload_uncored("[access]\nmode = 0600\n")
        self.assertEqual(ask(client)[READ], NO_PERMISSION)
        self.assert_refused(pcp, "The rule is mode", uid=ALICE)
        self.assert_told(pcp, uid=ROOT)

    def test_batch(self):
        """refused clients do not delay clients that are told, whatever requests_per_second says"""
        pcp = self.serve(f"[access]\nusers = {NOBODY}\n[server]\nrequests_per_second = 1\n")
        refused = [pcp.talk_to("pcp-fetch", "0", "0", READ, who=as_user(ALICE)) for _ in range(40)]
        told = [pcp.talk_to("pcp-fetch", "0", "0", READ) for _ in range(40)]
        for _ in range(3):
            for a, b in zip(refused, told):
                self.assertEqual(ask(a)[READ], NO_PERMISSION)
                self.assertIsInstance(ask(b)[READ], dict)


class Restarts(Policy):
    title = "started anew: "

    def test_agent(self):
        """pmcd tells an agent that it starts again the users of its clients"""
        pcp = self.serve(f"[access]\nusers = {NOBODY}\n", restart_agents=True)
        told = pcp.talk_to("pcp-fetch", "0", "0", READ)
        refused = pcp.talk_to("pcp-fetch", "0", "0", READ, who=as_user(ALICE))
        self.assertIsInstance(ask(told)[READ], dict)
        self.assertEqual(ask(refused)[READ], NO_PERMISSION)
        os.kill(pcp.pmda_pid(), signal.SIGKILL)
        wait_until(lambda: isinstance(json.loads(told.ask())["values"][READ], dict), 20,
                   "there is another agent")
        self.assertEqual(ask(refused)[READ], NO_PERMISSION)

    def test_uncored(self):
        """another uncored is asked again"""
        pcp = self.serve(f"[access]\nusers = {NOBODY}\n")
        client = pcp.talk_to("pcp-fetch", "0", "0", READ, who=as_user(ALICE))
        self.assertEqual(ask(client)[READ], NO_PERMISSION)
        pcp.stop_uncored()
        pcp.start_uncored(config=f"[access]\nusers = {NOBODY} {ALICE}\n")
        self.assertIsInstance(ask(client)[READ], dict)


    def test_local(self):
        """a local context is told what uncored tells its process: root everything"""
        pcp = self.new_pcp()
        pcp.start_uncored(config=f"[access]\nusers = {NOBODY}\n")
        agent = f"add,{DOMAIN},{pcp.folder}/bin/pmda_uncore.so,uncore_init"
        for uid, says in ((ROOT, "value"), (ALICE, TRY_AGAIN_WORDS)):
            done = pcp.run("pminfo", "-L", "-K", "clear", "-K", agent, "-n",
                           pcp.folder / "pmdas/uncore/root", "-f", READ, who=as_user(uid))
            self.assertIn(says, done.stdout)


class Owner(Policy):
    title = "the owner of the node's job: "

    def set_owner(self, pcp, uid):
        pcp.run(build_root() / "client/uncore", "owner", uid, who=as_user(ROOT))

    def test_change(self):
        """a change of owner reaches clients that are connected with their next fetch"""
        pcp = self.serve("[access]\nowner_only = yes\n", **OF_ROOT)
        self.set_owner(pcp, ALICE)
        clients = {uid: pcp.talk_to("pcp-fetch", "0", "0", READ, who=as_user(uid))
                   for uid in (ALICE, BOB)}
        self.assert_only(clients, ALICE)
        self.set_owner(pcp, BOB)
        self.assert_only(clients, BOB)
        self.set_owner(pcp, ALICE)
        self.assert_only(clients, ALICE)
        self.assert_refused(pcp, "Root may connect to uncored itself", uid=ROOT)

    def assert_only(self, clients, owner):
        for uid, client in clients.items():
            value = ask(client)[READ]
            if uid == owner:
                self.assertIsInstance(value, dict)
            else:
                self.assertEqual(value, NO_PERMISSION)


class Perfevent(Policy):
    title = "below perfevent: "

    def test_names(self):
        """a refused client sees no names, for PAPI would take a missing count for nothing counted"""
        pcp = self.serve(f"[access]\nusers = {NOBODY}\n")
        self.assert_told(pcp, uid=NOBODY)
        self.assertIn(FAULTS, pcp.run("pminfo", "perfevent").stdout)
        refused = pcp.run("pminfo", "perfevent", who=as_user(ALICE), check=False)
        self.assertNotIn("hwcounters", refused.stdout)
        self.assertIn(FAULTS, pcp.run("pminfo", "perfevent").stdout)

    def test_counts(self):
        """a client that is refused later keeps its last counts, and is told by perfevent.uncored.up"""
        pcp = self.serve("", **OF_ROOT)
        client = pcp.talk_to("pcp-fetch", "0", "0", FAULTS, PAPI_UP, who=as_user(ALICE))
        first = ask(client)
        self.assertEqual(first[PAPI_UP], {"-1": 1})
        pcp.reload_uncored(f"[access]\nusers = {BOB}\n")
        touch_pages(pcp)
        self.assert_less(first[FAULTS], pcp.served_values(FAULTS, who=as_user(BOB))[FAULTS])
        refused = [ask(client) for _ in range(2)]
        for values in refused:
            self.assertEqual(values, {FAULTS: first[FAULTS], PAPI_UP: {"-1": 0}})
        pcp.reload_uncored("")
        wait_until(lambda: ask(client)[PAPI_UP] == {"-1": 1}, 10, "the client is told again")
        self.assert_less(first[FAULTS], ask(client)[FAULTS])

    def test_away(self):
        """a client that is refused while uncored is away gets no count that others were told since"""
        pcp = self.serve("", **OF_ROOT)
        client = pcp.talk_to("pcp-fetch", "0", "0", FAULTS, who=as_user(ALICE))
        first = ask(client)[FAULTS]
        pcp.reload_uncored(f"[access]\nusers = {BOB}\n")
        touch_pages(pcp)
        self.assert_less(first, pcp.served_values(FAULTS, who=as_user(BOB))[FAULTS])
        pcp.stop_uncored()
        for _ in range(2):
            self.assertEqual(ask(client)[FAULTS], first)

    def test_record(self):
        """only users that may be told can read the agent's file, and while uncored is away only they see its counts"""
        pcp = self.serve("", **OF_ROOT)
        path = pcp.folder / "var/config/pmda/uncore.perfevent"
        pcp.served_values(FAULTS, who=as_user(ALICE))
        numbers = pcp.run("pminfo", "-m", FAULTS).stdout.split()[-1]
        self.assertEqual(path.stat().st_mode & 0o777, 0o644)
        pcp.reload_uncored(f"[access]\nusers = {BOB}\n")
        pcp.served_values(FAULTS, who=as_user(BOB))
        self.assertEqual(path.stat().st_mode & 0o777, 0o600)
        pcp.stop_pmcd()
        pcp.stop_uncored()
        pcp.start_pmcd(perfevent=True, **OF_ROOT)
        said = pcp.run("pminfo", "-f", numbers, who=as_user(ALICE), check=False)
        self.assertNotRegex(said.stdout, r"value [1-9]")

    def assert_less(self, counts, later):
        self.assertEqual(counts.keys(), later.keys())
        for inst, count in counts.items():
            self.assertLess(count, later[inst])


class Disclosure(Policy):
    title = "two users: "

    def test_quantum(self):
        """the quantum holds for both, and both are told what it is, also when it changes"""
        pcp = self.serve(f"[disclosure]\nquantum = {MIB}\n")
        for quantum in (MIB, 4 * MIB):
            pcp.reload_uncored(f"[disclosure]\nquantum = {quantum}\n")
            for uid in (ALICE, BOB):
                touch_pages(pcp)
                values = pcp.served_values(READ, QUANTUM, who=as_user(uid))
                self.assertEqual({value % MIB for value in values[READ].values()}, {0})
                self.assertEqual(values[QUANTUM], {"-1": quantum})

    def test_interval(self):
        """the interval holds for both together"""
        pcp = self.serve("[disclosure]\nmin_interval_ms = 2000\n")
        self.assert_told(pcp, uid=ALICE)
        times, sweeps = [], []
        for uid in (ALICE, BOB) * 6:
            fetch = pcp.served(SWEEPS, who=as_user(uid))[0]
            times.append(fetch["begin_ns"])
            sweeps.append(fetch["values"][SWEEPS]["0"])
        most = (times[-1] - times[0]) // 2_000_000_000 + 2
        self.assertLessEqual(sweeps[-1] - sweeps[0], most)


run_cases()
