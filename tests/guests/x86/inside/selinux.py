# SPDX-License-Identifier: BSD-3-Clause
"""A node whose SELinux enforces Debian's reference policy with packaging/selinux: uncored in its domain, and users."""
import os
import pathlib
import re

import image
from harness import VISITOR, run, show, uncored_pid

DOMAIN = "system_u:system_r:uncored_t:s0"
SELINUX = pathlib.Path("/sys/fs/selinux")
USERS = {"unconfined": "unconfined_u:unconfined_r:unconfined_t:s0", "confined": "user_u:user_r:user_t:s0"}


def read_as(domain):
    """A visitor in a domain reads the counters. The status says so: a confined user cannot write to our pipes."""
    run("systemd-run", "--quiet", "--wait", "--pipe", "-p", f"SELinuxContext={domain}", "-p", f"User={VISITOR}",
        "uncore", "stat", "--", "true")


def may(source, target, kind, permission):
    """What the policy in the kernel says of two types of the system: /sys/fs/selinux."""
    folder = SELINUX / "class" / kind
    number, bit = (int(path.read_text()) for path in (folder / "index", folder / "perms" / permission))
    access = os.open(SELINUX / "access", os.O_RDWR)
    try:
        os.write(access, f"system_u:system_r:{source}:s0 system_u:system_r:{target}:s0 {number}".encode())
        return bool(int(os.read(access, 100).split()[0], 16) >> (bit - 1) & 1)
    finally:
        os.close(access)


def label_of(path):
    return run("stat", "--format=%C", path).stdout.strip()


class Domain(image.Served):
    """All that is served on a node, and this."""

    def test_enforced(self):
        """SELinux enforces, and uncored runs in its own domain with all limits of its unit"""
        self.assertEqual((SELINUX / "enforce").read_text(), "1")
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

    def test_connect(self):
        """pmcd may connect, other services of the system may not"""
        self.assertEqual([may(name, "uncored_t", "unix_stream_socket", "connectto")
                          for name in ("pcp_pmcd_t", "getty_t", "syslogd_t")], [True, False, False])

    def test_boolean(self):
        """uncored may use CAP_SYS_ADMIN only if the site says so, and may trace no process"""
        def capabilities():
            return [may("uncored_t", "uncored_t", "capability", name) for name in ("sys_admin", "sys_ptrace")]
        self.assertEqual(capabilities(), [False, False])
        run("setsebool", "uncored_sys_admin", "on")
        self.assertEqual(capabilities(), [True, False])

    def test_denied(self):
        """the policy has denied nothing that uncored or its clients wanted"""
        denied = re.findall(r"avc: +denied .*uncore.*", run("journalctl", "-q", "--no-pager", "-b").stdout)
        self.assertFalse(denied, "\n".join(denied))


CASES = [image.Booted, Domain]
