# SPDX-License-Identifier: BSD-3-Clause
"""A node that boots an image: / is read-only, and /var is new and in memory. The site's configuration lies over it."""
import json
import pathlib

from counts import count_everything
from harness import (CONFIG, VISITOR, Case, is_active, journal, load_machine, metrics_of, run, start_uncored, stat,
                     stop_uncored, sysctl_paranoid, wait_until)

MACHINE = "icelake-sp"
JOBS, SPOOL = pathlib.Path("/var/lib/uncored-jobs"), pathlib.Path("/var/spool/uncored-jobs")
SITE = pathlib.Path("/run/site")


def lay_site_over():
    """Lays a folder of the site over /etc/uncored, and gives it the labels of that."""
    run("cp", "--recursive", CONFIG.parent, SITE)
    run("mount", "--bind", SITE, CONFIG.parent)
    run("restorecon", "-R", CONFIG.parent)


def mount_of(path):
    return run("findmnt", "--noheadings", "--output", "FSTYPE,VFS-OPTIONS", path).stdout.split()


class Booted(Case):
    def test_mounts(self):
        """/ is read-only, and /var is in memory"""
        self.assertIn("ro", mount_of("/")[1].split(","))
        self.assertEqual(mount_of("/var")[0], "tmpfs")
        with self.assertRaisesRegex(OSError, "Read-only file system"):
            CONFIG.write_text("")

    def test_socket(self):
        """the socket listens since the boot, and no unit of uncored has failed"""
        self.assertTrue(is_active("uncored.socket"))
        self.assertFalse(is_active("uncored.service"))
        self.assertNotIn("uncore", run("systemctl", "--failed", "--plain", "--no-legend").stdout)

    def test_folder(self):
        """the folders for records of jobs were made at the boot"""
        for folder, mode in ((JOBS, 0o711), (SPOOL, 0o700)):
            found = folder.stat()
            self.assertEqual((found.st_mode & 0o7777, found.st_uid, list(folder.iterdir())), (mode, 0, []))


class Served(Case):
    @classmethod
    def setUpClass(cls):
        lay_site_over()
        sysctl_paranoid(2)
        load_machine(MACHINE)
        start_uncored()

    @classmethod
    def tearDownClass(cls):
        stop_uncored()

    def test_counts(self):
        """with the configuration of the site every count of every box is exact"""
        commands, expected = count_everything(MACHINE)
        found = metrics_of(stat(commands))
        self.assertEqual({key: found[key].get("bytes") for key in expected}, expected)

    def test_record(self):
        """a job leaves its record in /var"""
        run("uncore", "job", "begin", "1", "--uid", VISITOR)
        run("uncore", "job", "end", "1", "--to", JOBS)
        found = json.loads(next(JOBS.glob("1@*.json")).read_text())
        self.assertNotIn("failure", found)
        self.assertTrue(found["regions"][0]["sockets"], found)

    def test_export(self):
        """the exporter writes its file"""
        run("systemctl", "start", "uncore-export-textfile.service")
        self.assertIn("\nuncore_up 1\n", pathlib.Path("/run/uncore-export/uncore.prom").read_text())

    def test_restart(self):
        """uncored is killed, and goes on in the same generation"""
        def generation():
            return json.loads(run("uncore", "info", "--json", user=VISITOR).stdout)["generation"]
        before = generation()
        run("systemctl", "kill", "--signal=KILL", "uncored.service")
        wait_until(lambda: is_active("uncored.service"), "uncored was started again")
        self.assertEqual(generation(), before)

    def test_complaints(self):
        """no write of uncored, or for it, has failed"""
        lines = run("journalctl", "-q", "--no-pager", "-b").stdout.splitlines()
        self.assertEqual([line for line in lines if "Read-only" in line and "uncore" in line], [])
        self.assertEqual(journal("-p", "err"), "")


CASES = [Booted, Served]
