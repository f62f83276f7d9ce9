# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the guides and the manual is run, on a host in namespaces with uncored on the stand-in machine, or why not.
Needs root. Programs of stand-ins/ are in the place of the user's own, of launchers, of sudo and of systemctl."""
import collections
import os
import pathlib
import re
import shutil

import fences
import hosts
import manual
import tap
from fences import ELSEWHERE, NOT_RUN, SOURCE, UPSTREAM

STAND_INS = pathlib.Path(__file__).resolve().parent / "stand-ins"
GROUP = "perf:x:990:nobody\n"  # that doc/site.md lets in
LEAST_RUN = 20
FLAGS_OF_OTHERS = 33  # in the tables of doc/others.md


def marked(start):
    return [fence for fence in fences.all_fences() if fence.mark.startswith(start)]


class Site:
    def __init__(self):
        self.host = hosts.Host(1)
        with open("/etc/group", "a", encoding="ascii") as file:
            file.write(GROUP)
        self.host.start_uncored()
        self.made = 0

    def environment(self):
        return {**hosts.ENVIRONMENT, "PATH": f"{STAND_INS}:{hosts.ENVIRONMENT['PATH']}",
                "MANAGER_LOG": str(self.host.folder / "manager"), "UNCORED_CONF": str(self.host.config),
                "SLURM_JOB_NODELIST": self.host.name, "SLURM_JOB_ID": "7", "SLURM_JOB_UID": str(hosts.NOBODY),
                **{name: os.environ[name] for name in ("UNCORE_SOURCE_ROOT", "UNCORE_BUILD_ROOT", "UNCORE_PREFIX")}}

    def folder(self, program):
        """Where a user types commands: with a program, and this tree's ./dev and build/."""
        self.made += 1
        folder = hosts.TMP / f"work-{self.made}"
        folder.mkdir()
        for name in ("app", "dev"):
            shutil.copy(STAND_INS / name, folder)
        (folder / "build").symlink_to(hosts.BUILD)
        (folder / "fill.c").write_text(program, encoding="ascii")
        shutil.chown(folder, hosts.NOBODY, hosts.NOBODY)
        return folder

    def run(self, fence, config, program):
        user = 0 if "sudo" in fence.text else hosts.NOBODY
        self.host.config.write_text(config, encoding="ascii")
        try:
            commands = f"cd {self.folder(program)}\n{fence.text}"
            done = self.host.run("bash", "-euo", "pipefail", "-c", commands, user=user, env=self.environment(),
                                 status=None)
        finally:
            if config:
                self.host.reload_uncored("")
        for line in (done.stdout + done.stderr).splitlines():
            print("#", line)
        tap.equal(done.returncode, 0, "status")


def cases(site):
    """A case for each block of commands, with the configuration and the program of the blocks before it."""
    page, before = None, {}
    for fence in fences.all_fences():
        if fence.page != page:
            page, before = fence.page, {}
        if fence.language != "sh":
            before[fence.language] = fence.text
        elif not fence.mark:
            arguments = (fence, before.get("ini", ""), before.get("c", ""))
            yield fence.title, lambda arguments=arguments: site.run(*arguments)
            before = {}


FLAGS = re.compile(r"^\| (.*) \| `((?:taskset \S+ \S+ )?uncore (?:stat|run|list|info)[^`]*)`.* \|$", re.MULTILINE)


def flags_of_others():
    """(title, command) of each row in the tables of flags of doc/others.md."""
    text = (SOURCE / "doc/others.md").read_text(encoding="utf-8")
    for table in re.findall(r"\n\| flag \| command \|\n(.*?)\n\n", text, re.DOTALL):
        for flag, command in FLAGS.findall(table):
            yield f"doc/others.md: {flag}: {command}", command


def run_flag(site, command):
    """What ends by Ctrl-C gets one; a process of a command has the PID 42 there."""
    endless = " -- " not in command and "--for" not in command and "-p" not in command and "stat" in command
    text = f"timeout --preserve-status -s INT 2 {command} || [ $? -eq 130 ]" if endless else command
    text = f"sleep 3 & {text.replace(' 42', ' $!')}" if "-p 42" in command else text
    site.run(fences.Fence("doc/others.md", 0, "sh", "", text + "\n"), "", "")


def suite_names():
    lists = re.findall(r"^TESTS_(?:GATE|REST)=\((.*?)\)", (SOURCE / "tests/dev/tests.sh").read_text(),
                       re.DOTALL | re.MULTILINE)
    return " ".join(lists).split()


def are_marked():
    """Every block says what it holds, and who runs it if it holds commands"""
    suites = suite_names()
    for fence in fences.all_fences():
        tap.check(fence.language in fences.LANGUAGES, f"{fence.title}: a block of what? See tests/docs/fences.py")
        name = fence.mark.removeprefix(ELSEWHERE)
        reported = fence.mark == UPSTREAM and fence.page.startswith("doc/upstream/")
        is_file = fence.language in fences.PROGRAMS and re.fullmatch(r"[\w.]+", fence.mark)
        tap.check(not fence.mark or fence.mark.startswith(NOT_RUN) or fence.mark != name and name in suites or reported
                  or is_file, f"{fence.title}: '{fence.mark}' is not a mark")


def manual_is_known():
    """manual.py says of every block of the man pages who runs it"""
    tap.equal({page: len(found) for page, found in manual.blocks().items()},
              {page: len(who) for page, who in manual.WHO.items()}, "blocks of pages")
    suites = set(suite_names())
    for page, who in manual.WHO.items():
        for name in who:
            known = name in (manual.HERE, manual.ROOT) or name.startswith("nobody: ") or name.removeprefix("suite ") in suites
            tap.check(known, f"{page}: who is '{name}'?")


def are_listed():
    """HACKING.md lists the blocks that are not run, with their reasons, and no others"""
    text = (SOURCE / "HACKING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^- not run: (\d+ of \S+ - .*)$", text, re.MULTILINE)
    found = collections.Counter((fence.page, fence.mark.removeprefix(NOT_RUN)) for fence in marked(NOT_RUN))
    print(f"# {sum(found.values())} blocks are not run, {len(marked(ELSEWHERE))} are run by other suites")
    tap.equal(sorted(listed), sorted(f"{count} of {page} - {why}" for (page, why), count in found.items()), "list")


def main():
    why_not = hosts.why_not()
    if why_not:
        tap.skip_all(why_not)
    hosts.enter()
    site = Site()
    found = list(cases(site))
    tap.check(len(found) >= LEAST_RUN, f"only {len(found)} blocks are run")
    flags = [(title, lambda command=command: run_flag(site, command)) for title, command in flags_of_others()]
    tap.check(len(flags) == FLAGS_OF_OTHERS, f"{len(flags)} rows have a flag")
    examples = [(fence.title, lambda fence=fence: site.run(fence, "", "")) for fence in manual.examples()]
    lists = [(check.__doc__, check) for check in (are_marked, are_listed, manual_is_known)]
    tap.run_functions([*lists, *flags, *found, *examples])


if __name__ == "__main__":
    main()
