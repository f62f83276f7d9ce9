# SPDX-License-Identifier: BSD-3-Clause
"""The real Install and Remove, with PCP's own pmcd, agents and name space, as root.

It all happens in new namespaces: copies of PCP's folders lie over the real ones, /run is empty, nothing else can be
written, the loopback device is private, and all processes die with the first. PCP's install scripts send signals to
every pmcd that they see.
"""
import fcntl
import grp
import http.client
import os
import pathlib
import pty
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys

import processes
import tap
from harness import (Case, DOMAIN, PCP_CONF, PCP_PATH, build_root, n_sockets,
                     pcp_file, run_cases, source_root, wait_until_it_answers, why_not)
from reading import TRY_AGAIN_WORDS

INSIDE = "UNCORE_TEST_INSIDE"  # set in the namespaces: the number of the process outside
NAMESPACES = ("--mount", "--pid", "--net", "--ipc", "--fork", "--kill-child", "--mount-proc",
              "--propagation", "private")
HERE = pcp_file("PCP_PMDAS_DIR", "uncore")
CONF = pcp_file("PCP_PMCDCONF_PATH")
READERS = 64999  # number of a group
NAMES = pcp_file("PCP_VAR_DIR", "pmns/root")
RUN = pcp_file("PCP_RUN_DIR")
LOGS = pcp_file("PCP_LOG_DIR", "pmcd")
OWNER = PCP_CONF.get("PCP_USER")
INSTALLED = (pcp_file("PCP_PMDASADM_DIR"), pcp_file("PCP_PMDAS_DIR"))
COPIED = [pathlib.Path("/etc"), *(pcp_file(f"PCP_{name}_DIR") for name in ("PMDASADM", "VAR", "LOG"))]
AGENT_USER = "pmdauncore"
PRIVATE = pathlib.Path("/run/private")
UNCORED_SOCKET = pathlib.Path("/run/uncored/socket")
SCRIPT_SECONDS = 60
EVENT = "perfevent.hwcounters.uncore_standin_0.page_faults.value"
STOCK_LINE = f"perfevent\t127\tpipe\tbinary\t{HERE.parent}/perfevent/pmdaperfevent -d 127\n"
STOCK_NAMES = "root {\n\tperfevent\n}\nperfevent {\n\thwcounters\t127:*:*\n}\n"


# --- a machine of our own ---


def enter_namespaces():
    """Starts this program again, as the first process of new namespaces."""
    os.environ[INSIDE] = str(os.getpid())
    os.execvp("unshare", ["unshare", *NAMESPACES, sys.executable, "-B", os.path.abspath(__file__)])


def why_no_namespaces():
    """Why there can be none here; "" if there can."""
    done = subprocess.run(["unshare", *NAMESPACES, "true"], check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return f"needs namespaces: {done.stderr.strip()}" if done.returncode else ""


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def copy_over(path):
    """Mounts a copy over path, so that the original is not written."""
    copy = PRIVATE / str(path).strip("/").replace("/", "-")
    subprocess.run(["cp", "-a", path, copy], check=True)
    mount("--bind", copy, path)


def raise_loopback():
    flags_request = struct.pack("16sh14x", b"lo", 0x1)  # struct ifreq with IFF_UP
    with socket.socket(socket.AF_INET) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, flags_request)  # SIOCSIFFLAGS


def add_group():
    """A group that a site has for its readers, with the agent's user in it; that user is still to be made."""
    with open("/etc/group", "a", encoding="utf-8") as groups:
        groups.write(f"readers:x:{READERS}:{AGENT_USER}\n")


def furnish():
    mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    PRIVATE.mkdir()
    for path in COPIED:
        copy_over(path)
    for path in (RUN, LOGS, pcp_file("PCP_TMP_DIR")):
        path.mkdir(mode=0o775, exist_ok=True)
        shutil.chown(path, OWNER)
    UNCORED_SOCKET.parent.mkdir()
    (PRIVATE / "tmp").mkdir(mode=0o1777)
    (PRIVATE / "tmp").chmod(0o1777)
    os.environ["PCP_TMPFILE_DIR"] = str(PRIVATE / "tmp")
    add_group()
    raise_loopback()


def install_files():
    """Installs the agent and its library, and runs ldconfig for libuncore, which a package manager would do. The build
    that is tested has a prefix in which PCP's agent is installed only where an option asks for it."""
    root, build = PRIVATE / "root", PRIVATE / "build"
    for words in (["setup", build, source_root(), "-Ddaemon=disabled", "-Dtests=disabled", "-Dpcp=enabled",
                   "-Dman=disabled", "-Doptimization=0"],
                  ["install", "--quiet", "-C", build, "--destdir", root]):
        subprocess.run(["meson", *words], check=True, stdout=subprocess.DEVNULL)
    for folder in INSTALLED:
        shutil.rmtree(folder / "uncore", ignore_errors=True)
        shutil.copytree(root / folder.relative_to("/") / "uncore", folder / "uncore", symlinks=True)
    library = next(root.glob("**/libuncore.so.0"))
    os.environ["LD_LIBRARY_PATH"] = str(library.parent)


# --- the state ---


def run(*argv, **options):
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([str(word) for word in argv], check=False, text=True,
                          timeout=SCRIPT_SECONDS, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)


def script(name, *argv, answers=None):
    """Runs ./Install or ./Remove."""
    given = {} if answers is None else {"input": answers, "stdin": None}
    return run(f"./{name}", *argv, cwd=HERE, **given)


def names():
    """{name: number} of the whole name space."""
    lines = run("pminfo", "-n", NAMES, "-m").stdout.splitlines()
    return dict(line.split(" PMID: ") for line in lines)


def conf_lines():
    lines = (line.split() for line in CONF.read_text(encoding="utf-8").splitlines())
    return sorted(line for line in lines if line)


def uncore_line():
    return next((line[1:] for line in conf_lines() if line[0] == "uncore"), None)


def agents():
    """{name: pid} of the agents that are processes."""
    return {name: pid for pid, _, name, state in processes.all_processes()
            if name.startswith("pmda") and state != "Z"}


def other_agents():
    return {name: pid for name, pid in agents().items() if name != "pmdauncore"}


def status_of(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def value(metric):
    return run("pmprobe", "-v", metric).stdout.split()[2:]


def is_known(metric):
    return "Unknown metric" not in run("pminfo", "-d", metric).stdout


class Machine:
    """pmcd and uncored of these namespaces."""

    pmcd_pid = None
    uncored = None

    @classmethod
    def start_pmcd(cls):
        run("./Rebuild", "-us", cwd=NAMES.parent)
        as_root = dict(os.environ, PMCD_ROOT_AGENT="1", PMCD_RESTART_AGENTS="1")
        run("pmcd", "-A", cwd=LOGS, env=as_root)
        processes.wait_until(lambda: value("pmcd.numagents"), 10, "pmcd answers")
        cls.pmcd_pid = int((RUN / "pmcd.pid").read_text(encoding="utf-8"))

    @classmethod
    def start_uncored(cls, platforms=source_root() / "conf/platforms", access=""):
        """In place of the one that runs, if any. access: a line of that section of uncored.conf."""
        if cls.uncored:
            processes.end(cls.uncored)
        config = PRIVATE / "uncored.conf"
        config.write_text(f"[access]\n{access}\n", encoding="utf-8")
        with open(PRIVATE / "uncored.log", "wb") as log:
            cls.uncored = processes.start(
                [build_root() / "daemon/uncored", "--config", config, "--platforms", platforms,
                 "--root", build_root() / "tests/machines/standin", "--socket", UNCORED_SOCKET],
                stderr=log)
        wait_until_it_answers(cls.uncored, UNCORED_SOCKET)


# --- the cases, in this order: each begins with the state that the one before has left ---


class InstallCase(Case):
    def install(self, *argv, **options):
        return self.succeed("Install", *argv, **options)

    def succeed(self, *argv, **options):
        """Runs a script, which must succeed and leave pmcd and its other agents alone."""
        before = other_agents()
        done = script(*argv, **options)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(other_agents(), before, "other agents were restarted")
        self.assertEqual(value("pmcd.pid"), [str(Machine.pmcd_pid)])
        return done.stdout

    def assert_refused(self, done, status, *words):
        """Refused for this reason, and nothing was changed."""
        self.assertEqual(done.returncode, status, done.stdout)
        for word in words:
            self.assertIn(word, done.stdout)
        self.assertEqual((names(), conf_lines()), self.unchanged)
        self.assertEqual(sorted(os.listdir(NAMES.parent)), self.files)

    def setUp(self):
        self.unchanged = names(), conf_lines()
        self.files = sorted(os.listdir(NAMES.parent))

    def assert_values(self):
        """The agent answers with values, as the agent that pmcd.conf names."""
        processes.wait_until(lambda: value("uncore.daemon.up") == ["1"], 5, "uncored is there")
        self.assertEqual(len(value("uncore.dram.read")), n_sockets())


class Refusals(InstallCase):
    @classmethod
    def setUpClass(cls):
        Machine.start_pmcd()

    def test_help(self):
        """--help of both tells the options, and changes nothing"""
        self.assert_refused(script("Install", "--help"), 0, "Usage: ./Install", "--perfevent-names")
        self.assert_refused(script("Remove", "--help"), 0, "Usage: ./Remove")

    def test_bad_options(self):
        """an option that is unknown or lacks its value ends both with status 2 and the usage"""
        for name in ("Install", "Remove"):
            with self.subTest(name=name):
                self.assert_refused(script(name, "--bogus"), 2, "Usage: ")
                self.assert_refused(script(name, "-Q", "bogus"), 2, "Usage: ")
                self.assert_refused(script(name, "-n"), 2, "Usage: ")

    def test_not_root(self):
        """a user that is not root is told to be root"""
        done = run("./Install", cwd=HERE, **processes.as_user())
        self.assert_refused(done, 1, "You must be root")

    def test_stock_agent_in_conf(self):
        """--perfevent-names is refused while pmcd.conf has the stock perfevent agent"""
        self.addCleanup(CONF.write_text, CONF.read_text(encoding="utf-8"), encoding="utf-8")
        CONF.write_text(STOCK_LINE + CONF.read_text(encoding="utf-8"), encoding="utf-8")
        self.setUp()
        self.assert_refused(script("Install", "--perfevent-names"), 1, "perfevent", str(CONF),
                            "nothing was changed")

    def test_stock_names(self):
        """--perfevent-names is refused while the name space has names of the stock agent"""
        self.addCleanup(NAMES.write_text, NAMES.read_text(encoding="utf-8"), encoding="utf-8")
        (PRIVATE / "stock").write_text(STOCK_NAMES, encoding="utf-8")
        done = run("pmnsadd", "-n", NAMES, PRIVATE / "stock")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.setUp()
        self.assert_refused(script("Install", "--perfevent-names"), 1, "perfevent", str(NAMES),
                            "nothing was changed")

    def test_taken_number(self):
        """it is refused while another agent has the number: PCP's scripts would remove that agent"""
        self.addCleanup(CONF.write_text, CONF.read_text(encoding="utf-8"), encoding="utf-8")
        CONF.write_text(f"other\t{DOMAIN}\tpipe\tbinary\t/bin/other\n" +
                        CONF.read_text(encoding="utf-8"), encoding="utf-8")
        self.setUp()
        self.assert_refused(script("Install"), 1, '"other"', str(DOMAIN), "nothing was changed")

    def test_prompt(self):
        """at a terminal it asks whether to add the names; yes is yes"""
        self.addCleanup(CONF.write_text, CONF.read_text(encoding="utf-8"), encoding="utf-8")
        CONF.write_text(STOCK_LINE + CONF.read_text(encoding="utf-8"), encoding="utf-8")
        self.setUp()
        ours, terminal = pty.openpty()
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, terminal)
        os.write(ours, b"yes\n")
        done = run("./Install", cwd=HERE, stdin=terminal)
        self.assert_refused(done, 1, "PAPI", "[no]", "perfevent agent is registered")


# As PCP installs them from 7.2 on, for programs without pmcd.
LOCAL_CONF = pcp_file("PCP_SYSCONF_DIR", "local.conf")
LOCAL_NAMES = NAMES.parent / "local.root"
LOCAL_CONF_TEXT = f"# Name\tId\nmmv\t70\tdso\tmmv_init\t{HERE.parent}/mmv/pmda_mmv.so\n"
LOCAL_NAMES_TEXT = "root {\n\tmmv\t70:*:*\n}\n"


def values_without_pmcd():
    """How many a local context of nobody's has, with PCP's list of shared objects."""
    who = processes.as_user()
    done = run("pminfo", "-L", "-f", "uncore.dram.read", **who,
               env={**os.environ, "PCP_PMCDCONF_PATH": str(LOCAL_CONF), "PMNS_DEFAULT": str(LOCAL_NAMES)})
    return done.stdout.count(" value ")


class RoundTrips(InstallCase):
    @classmethod
    def setUpClass(cls):
        LOCAL_CONF.write_text(LOCAL_CONF_TEXT, encoding="utf-8")
        LOCAL_NAMES.write_text(LOCAL_NAMES_TEXT, encoding="utf-8")
        cls.before = names(), conf_lines()
        cls.agents = other_agents()

    def test_daemon(self):
        """./Install </dev/null: the metrics appear, and it says what to do while uncored is away"""
        said = self.install()
        self.assertIn("Check uncore metrics have appeared", said)
        self.assertIn("systemctl enable --now uncored.socket", said)
        self.assertRegex(said, "uncored does not answer: .")
        self.assertEqual(uncore_line(), [str(DOMAIN), "pipe", "binary", f"{HERE}/pmdauncore", "-d",
                                         str(DOMAIN), "-U", AGENT_USER])
        self.assertEqual({name for name in names() if not name.startswith("uncore.")},
                         set(self.before[0]))
        self.assertEqual(value("uncore.daemon.up"), ["0"])

    def test_values_come(self):
        """the metrics get values as soon as uncored runs"""
        Machine.start_uncored()
        self.assert_values()

    def test_local_contexts(self):
        """without pmcd pminfo has values, where PCP lists the shared objects that it loads then"""
        self.assertEqual(values_without_pmcd(), n_sockets())
        self.assertEqual(LOCAL_CONF.read_text(encoding="utf-8").splitlines()[:2], LOCAL_CONF_TEXT.splitlines())

    def test_no_privilege(self):
        """the agent that pmcd starts as root runs as a system user of its own, in pcp's group, without a capability"""
        status = status_of(agents()["pmdauncore"])
        user = pwd.getpwnam(AGENT_USER)
        self.assertEqual((status["Uid"].split(), user.pw_shell), ([str(user.pw_uid)] * 4, "/usr/sbin/nologin"))
        self.assertLess(user.pw_uid, 1000)
        self.assertIn(str(grp.getgrnam(OWNER).gr_gid), status["Groups"].split())
        for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertIn(str(READERS), status["Groups"].split())

    def test_help_text(self):
        """each metric has its help, compiled by Install"""
        text = run("pminfo", "-tT", "uncore").stdout
        found = set(re.findall(r"^(uncore\.\S+) \[.+\]$", text, re.M))
        self.assertEqual({name for name in found if not name.startswith("uncore.metric.")} | {"uncore.metric"},
                         {name for name in names() if name.startswith("uncore.")}, text)
        self.assertIn("uncore.metric.clock", found)

    def test_dso_with_perfevent_names(self):
        """installed again, as a shared object with --perfevent-names: PAPI finds its events"""
        self.install("--perfevent-names", answers="dso\n")
        self.assertEqual(uncore_line(), [str(DOMAIN), "dso", "uncore_init",
                                         f"{HERE}/pmda_uncore.so"])
        self.assertNotIn("pmdauncore", agents())
        self.assertEqual(names()["perfevent"], f"{DOMAIN}.*.*")
        self.assert_values()
        self.assert_papi_works()

    def test_daemon_again(self):
        """installed again without an option: a daemon, and the names below perfevent are gone"""
        said = self.install()
        self.assertIn("Removing the names below perfevent", said)
        self.assertIn("Warning: other machines reach pmcd, and uncored lets everybody read", said)
        self.assertIn("pmdauncore", agents())
        self.assertNotIn("perfevent", names())
        self.assertFalse(is_known("perfevent"))
        self.assert_values()
        self.assertEqual(values_without_pmcd(), n_sockets())

    def test_remove(self):
        """./Remove: pmcd.conf, the name space and the other agents are as before"""
        self.succeed("Remove")
        self.assert_as_before()

    def test_daemon_with_perfevent_names(self):
        """a first install with --perfevent-names: PAPI finds its events"""
        said = self.install("--perfevent-names")
        self.assertNotIn("systemctl", said)
        self.assert_papi_works()

    def test_remove_both_trees(self):
        """./Remove takes the names below perfevent away, too"""
        self.succeed("Remove")
        self.assert_as_before()

    def test_no_names(self):
        """where the kernel has no names for the events, uncored's own are there"""
        Machine.start_uncored(self.raw_platforms())
        self.install("--perfevent-names")
        self.assert_values()
        self.assertTrue(is_known("perfevent.hwcounters.uncored.dram_read.value"))
        self.assertFalse(is_known("perfevent.hwcounters.uncore_standin_0"))
        self.succeed("Remove")
        self.assert_as_before()

    @staticmethod
    def raw_platforms():
        folder = PRIVATE / "platforms"
        folder.mkdir()
        text = (source_root() / "conf/platforms/standin.conf").read_text(encoding="utf-8")
        (folder / "standin.conf").write_text(re.sub(r"sysfs:\S+ \| ", "", text), encoding="utf-8")
        return folder

    def assert_papi_works(self):
        done = run(build_root() / "tests/pcp/papi-client", "read", 3, 10)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"event {EVENT}", done.stdout)

    def assert_as_before(self):
        self.assertEqual((names(), conf_lines()), self.before)
        self.assertEqual(agents(), self.agents)
        self.assertEqual(LOCAL_CONF.read_text(encoding="utf-8"), LOCAL_CONF_TEXT)
        self.assertEqual(LOCAL_NAMES.read_text(encoding="utf-8").split(), LOCAL_NAMES_TEXT.split())
        self.assertFalse(is_known("uncore"))
        self.assertFalse(is_known("perfevent"))
        self.assertFalse({"uncore", "perfevent"} & set(os.listdir(NAMES.parent)))


class WithProxy(InstallCase):
    PORT = 44322

    def start_pmproxy(self, address):
        """As the service does: as the user pcp."""
        folder = PRIVATE / "pmproxy"
        folder.mkdir(exist_ok=True)
        shutil.chown(folder, OWNER)
        config = folder / "pmproxy.conf"
        config.write_text("[pmproxy]\nredis.enabled = false\n", encoding="utf-8")
        proxy = processes.start(["pmproxy", "-f", "-A", "-c", config, "-i", address, "-p", self.PORT,
                                 "-s", folder / "socket", "-l", folder / "log"], cwd=folder,
                                **processes.as_user(pwd.getpwnam(OWNER).pw_uid))
        self.addCleanup(processes.end, proxy)
        processes.wait_until(lambda: "pmcd_numagents" in self.scrape("pmcd.numagents"), 10, "pmproxy answers")

    def scrape(self, names, host="local:"):
        connection = http.client.HTTPConnection("127.0.0.1", self.PORT, timeout=10)
        try:
            connection.request("GET", f"/metrics?hostspec={host}&names={names}")
            return connection.getresponse().read().decode()
        except OSError:
            return ""
        finally:
            connection.close()


class Rules(WithProxy):
    title = "where uncored lets only some users in: "
    TOLD, OTHER = 1234, 1235
    READ = "uncore.dram.read"

    @staticmethod
    def serve(*users):
        Machine.start_uncored(access=f"users = {' '.join(map(str, users))}")

    @staticmethod
    def number_of(user):
        return pwd.getpwnam(user).pw_uid

    def answer(self, uid, *options, metric=READ):
        """What pminfo is told, as this user; on a busy machine there may be nothing for a moment."""
        def answer():
            text = run("pminfo", *options, "-f", metric, **processes.as_user(uid)).stdout
            return None if TRY_AGAIN_WORDS in text else text

        return processes.wait_until(answer, 10, "the agent has an answer")

    def assert_told(self, uid):
        self.assertEqual(self.answer(uid).count(" value "), n_sockets())

    def assert_not_told(self, uid, *options):
        self.assertIn("No permission", self.answer(uid, *options))

    def counts(self):
        text = self.answer(self.TOLD, metric="perfevent.hwcounters.uncored.dram_read.value")
        return [int(count) for count in re.findall(r" value (\d+)", text)]

    def test_shared_object(self):
        """the shared object is refused, because it reads as pmcd's own user, as pmproxy does"""
        self.serve(AGENT_USER, self.TOLD, OWNER)
        self.assert_refused(script("Install", answers="dso\n"), 1, "shared object", "pmproxy", "nothing was changed")

    def test_unknown_user(self):
        """a user that does not exist is refused"""
        self.assert_refused(script("Install", "--user=nobody-knows"), 1, "nobody-knows", "nothing was changed")

    def test_upgrade(self):
        """an agent that ran as pcp gets its own user; Install says what to change, and counts below perfevent go on"""
        file = pcp_file("PCP_VAR_DIR", "config/pmda/uncore.perfevent")
        file.unlink(missing_ok=True)
        self.serve(self.TOLD, OWNER)
        self.assertRegex(self.install("--user=pcp", "--perfevent-names"),
                         f"Warning: uncored lets {OWNER} in.* Take {OWNER} out")
        before = self.counts()
        self.assertRegex(self.install("--perfevent-names"),
                         f"Warning: uncored does not let the agent itself in.* Add {AGENT_USER} there")
        self.assertEqual((file.owner(), file.stat().st_mode & 0o777), (AGENT_USER, 0o600))
        self.assertIn("is not among the users", self.answer(self.TOLD, metric="uncore.daemon.reason"))
        self.serve(AGENT_USER, self.TOLD)
        after = self.wait_until(self.counts, 10, "values come back")
        self.assertEqual(len(before), len(after))
        self.assertTrue(before and all(old <= new for old, new in zip(before, after)), (before, after))

    def test_users(self):
        """they are told; another user, pcp, root and every client over TCP are not, and Install says so"""
        said = self.install()
        self.assertIn("They are told nothing. To log, run a pmlogger as one of the users", said)
        self.assertNotIn("Warning", said)
        self.assertNotIn("does not answer", said)
        for uid in (self.TOLD, self.number_of(AGENT_USER)):
            self.assert_told(uid)
            self.assert_not_told(uid, "-h", "127.0.0.1")
        for uid in (self.OTHER, self.number_of(OWNER), 0):
            self.assert_not_told(uid)

    def test_restart(self):
        """an agent that was killed is started again as the same user, and tells the same users"""
        os.kill(agents()["pmdauncore"], signal.SIGKILL)
        # pmcd notices by a client's request.
        processes.wait_until(lambda: " value " in self.answer(self.TOLD), 20, "there are values again")
        after = agents()["pmdauncore"]
        self.assertEqual(status_of(after)["Uid"].split(), [str(self.number_of(AGENT_USER))] * 4)
        self.assert_not_told(self.number_of(OWNER))

    def test_pmproxy(self):
        """no client of pmproxy is told, by whichever way it reaches pmcd"""
        self.start_pmproxy("127.0.0.1")
        self.assert_told(self.TOLD)
        for host in ("local:", "localhost", "127.0.0.1"):
            said = self.scrape("uncore", host)
            self.assertIn("uncore_daemon_up", said)
            self.assertNotIn("uncore_dram_read", said)

    def log(self, uid):
        """What a pmlogger of this user finds out, as in the recipe of pmdauncore(1) but for the time and the folder."""
        folder = PRIVATE / f"log-of-{uid}"
        folder.mkdir()
        os.chown(folder, uid, uid)
        page = (source_root() / "man/pmdauncore.1.scd").read_text(encoding="utf-8")
        wanted = re.search(r"^log mandatory on 1 min (\{.*\})$", page, re.M)[1]
        (folder / "config").write_text(f"log mandatory on 200 msec {wanted}\n", encoding="utf-8")
        command = re.search(r"^ExecStart=(\S+) (.*)$", page, re.M)
        words = command[2].replace("/etc/uncore-log.config", f"{folder}/config")
        words = words.replace("/var/lib/uncore-log", str(folder)).replace("%%", "%").split()
        done = run(command[1], "-s", 4, *words, cwd=folder, **processes.as_user(uid))
        self.assertEqual(done.returncode, 0, done.stdout)
        archive, = folder.glob("20*.index")
        return run("pmdumplog", archive.with_suffix(""), self.READ).stdout

    def test_pmlogger(self):
        """a pmlogger of a user that is let in logs bytes; one of pcp logs none"""
        self.assertGreaterEqual(self.log(self.TOLD).count(" value "), 2 * n_sockets())
        self.assertNotIn(" value ", self.log(self.number_of(OWNER)))


    def test_owner(self):
        """with owner_only Install names the way; then the owner of the job is told, and no other user or service"""
        Machine.start_uncored(access="owner_only = yes")
        self.assertEqual(run(build_root() / "client/uncore", "owner", self.TOLD).returncode, 0)
        self.assertIn("./Install --user=root", self.install())
        self.install("--user=root")
        self.assert_told(self.TOLD)
        self.assert_not_told(self.TOLD, "-h", "127.0.0.1")
        for uid in (self.OTHER, self.number_of(OWNER), 0):
            self.assert_not_told(uid)
        self.start_pmproxy("127.0.0.1")
        self.assertNotIn("uncore_dram_read", self.scrape("uncore"))


class Everybody(WithProxy):
    title = "where uncored lets everybody read: "

    def test_reachable(self):
        """Install warns where other machines reach pmcd and pmproxy"""
        Machine.start_uncored()
        self.start_pmproxy("0.0.0.0")
        self.assertIn("Warning: other machines reach pmcd pmproxy, and uncored lets everybody read", self.install())
        self.succeed("Remove")


class Down(InstallCase):
    def test_pmcd_down(self):
        """without pmcd ./Install says that pmcd does not run"""
        os.kill(Machine.pmcd_pid, signal.SIGTERM)
        processes.wait_until(lambda: status_of(Machine.pmcd_pid)["State"].startswith("Z"), 10,
                             "pmcd ends")
        self.assert_refused(script("Install"), 1, "pmcd does not run", "nothing was changed")


def main():
    if INSIDE not in os.environ:
        why = why_not() or why_no_namespaces()
        if why:
            tap.skip_all(why)
        enter_namespaces()
    furnish()
    install_files()
    mount("-o", "remount,bind,ro", "/")
    os.environ["PATH"] = f"{PCP_PATH}:{pcp_file('PCP_BINADM_DIR')}"
    os.environ["PCP_DERIVED_CONFIG"] = ""
    run_cases()


main()
