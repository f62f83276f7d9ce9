# SPDX-License-Identifier: BSD-3-Clause
"""Access to the service as shipped."""
from harness import STRANGER, VISITOR, run
from kept import Kept, kill, replaced

EACCES = -13


class Owner(Kept):
    config = "[access]\nowner_only = yes\n"

    def owner(self):
        return run("uncore", "owner").stdout.split()[0]

    def test_stays(self):
        """the owner of the node outlives a kill, and an open region of the owner loses nothing by it"""
        run("uncore", "owner", VISITOR)
        self.assert_exact_while(lambda: replaced(kill))
        self.assertEqual(self.owner(), VISITOR)

    def test_withdrawn(self):
        """the page of a former owner is withdrawn, and stays withdrawn over kills"""
        self.assertEqual(self.program.tell("open"), [0, ""])
        self.assertEqual(self.program.tell("read"), [0, ""])
        run("uncore", "owner", "--none")
        self.assertEqual(self.program.tell("read")[0], EACCES)
        for _ in range(3):
            replaced(kill)
            self.assertEqual(self.program.tell("read")[0], EACCES)

    def test_refused(self):
        """a former owner gets no other page"""
        self.program.tell("close")
        self.assertEqual(self.program.tell("open")[0], EACCES)
        self.assertEqual(self.owner(), "none")


class Named(Kept):
    """The service can look up names inside its sandbox."""

    refusal = ""

    def info(self, user):
        return run("uncore", "info", user=user, check=False)

    def test_named(self):
        """a named user is let in"""
        self.assertEqual(self.info(VISITOR).returncode, 0)

    def test_not_named(self):
        """another user is told the rule"""
        refused = self.info(STRANGER)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn(self.refusal, refused.stderr)


class NamedUsers(Named):
    about = "users: "
    config = f"[access]\nusers = {VISITOR}\n"
    refusal = "is not among the users who may connect to uncored"


class NamedGroup(Named):
    about = "group: "
    config = f"[access]\ngroup = {VISITOR}\n"
    refusal = "is not in the group whose members may connect to uncored"


CASES = [Owner, NamedUsers, NamedGroup]
