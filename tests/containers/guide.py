# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the site's guide that run containers, as they are written."""
import fences
import images
import tap
from fences import ELSEWHERE
from runtimes import ALICE

MARK = f"{ELSEWHERE}containers"
PLATFORM = "platform standin"


def run(site, folder, fence):
    done = site.as_user(ALICE, "bash", "-euc", f"cd {folder}\n{fence.text}")
    tap.equal(done.stdout.count(PLATFORM), fence.text.count("uncore info"), f"readings in {done}")


def cases(site):
    """A user's folder has an image as a folder, and podman has the same by the same name."""
    folder = site.homes[ALICE]
    (folder / "image").symlink_to(site.images.path(images.DEBIAN))
    site.as_user(ALICE, "podman", "tag", site.images.path(images.DEBIAN).name, "image")
    found = [fence for fence in fences.all_fences() if fence.mark == MARK]
    tap.check(found, "no block of commands is for this suite")
    for fence in found:
        yield fence.title, lambda fence=fence: run(site, folder, fence)
