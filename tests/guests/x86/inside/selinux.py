# SPDX-License-Identifier: BSD-3-Clause
"""A node whose SELinux enforces Debian's reference policy with packaging/selinux: uncored in its domain, and users."""
import pathlib
import re

import image
from harness import VISITOR, run, show, uncored_pid

DOMAIN = "system_u:system_r:uncored_t:s0"
USERS = {"unconfined": "unconfined_u:unconfined_r:unconfined_t:s0", "confined": "user_u:user_r:user_t:s0"}


def read_as(domain):
    """A visitor in a domain reads the counters. The status says so: a confined user cannot write to our pipes."""
    run("systemd-run", "--quiet", "--wait", "--pipe", "-p", f"SELinuxContext={domain}", "-p", f"User={VISITOR}",
        "uncore", "stat", "--", "true")


def label_of(path):
    return run("stat", "--format=%C", path).stdout.strip()


class Domain(image.Served):
    """All that is served on a node, and this."""

    def test_enforced(self):
        """SELinux enforces, and uncored runs in its own domain with all limits of its unit"""
        self.assertEqual(pathlib.Path("/sys/fs/selinux/enforce").read_text(), "1")
        self.assertEqual(pathlib.Path(f"/proc/{uncored_pid()}/attr/current").read_text().strip("\0\n"), DOMAIN)
        limits = pathlib.Path(f"/proc/{uncored_pid()}/limits").read_text()
        self.assertRegex(limits, rf"Max open files +{show('LimitNOFILE')} ")
        self.assertRegex(limits, r"Max realtime priority +1 ")

    def test_labels(self):
        """systemd gave the socket its label"""
        self.assertEqual(label_of("/run/uncored/socket"), "system_u:object_r:uncored_runtime_t:s0")

    def test_users(self):
        """users read counters, whether the policy confines them or not"""
        for name, domain in USERS.items():
            with self.subTest(user=name):
                read_as(domain)

    def test_denied(self):
        """the policy has denied nothing that uncored or its clients wanted"""
        denied = re.findall(r"avc: +denied .*uncore.*", run("journalctl", "-q", "--no-pager", "-b").stdout)
        self.assertFalse(denied, "\n".join(denied))


CASES = [image.Booted, Domain]
