# SPDX-License-Identifier: BSD-3-Clause
"""What shells complete of uncore and uncored."""
import os
import pathlib
import pty
import shutil
import subprocess
import tempfile

import tap

BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
HERE = BUILD / "generate"
ASK = 'source "$1"; program=$2; shift 2; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ' \
      'compopt() { :; }; "_$program"; printf "%s\\n" "${COMPREPLY[@]}"'


def offered(*words, program="uncore", **environment):
    """What bash offers for the last one of the words."""
    first = BUILD / "client/uncore" if program == "uncore" else program
    done = subprocess.run(["bash", "--norc", "-c", ASK, "bash", HERE / program, program, first, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True,
                          env=os.environ | environment)
    tap.equal(done.stderr, "", f"stderr of {words}")
    return done.stdout.split()


def syntax():
    """bash, zsh and fish can parse what is for them"""
    for shell, name in ((("bash", "-n"), "{}"), (("zsh", "-n"), "_{}"), (("fish", "--no-execute"), "{}.fish")):
        for program in ("uncore", "uncored"):
            if shell[0] == "bash" or shutil.which(shell[0]):
                done = subprocess.run([*shell, HERE / name.format(program)], capture_output=True, text=True, check=False)
                tap.equal((done.returncode, done.stderr), (0, ""), f"{shell[0]} of {program}")


def words():
    """bash completes commands, options, values and the command that is run"""
    tap.equal(offered("st"), ["stat"], "commands")
    tap.equal(offered("job", "b"), ["begin"], "commands of job")
    tap.equal(offered("help", "exp"), ["export"], "commands after help")
    tap.equal(offered("stat", "--int"), ["--interval"], "options")
    tap.equal(offered("-h", "job", "end", "--e"), ["--exit"], "options of a command of job")
    tap.equal(offered("stat", "--output", "x", "--rep"), ["--repeat"], "options behind a value")
    tap.equal(offered("stat", "--output", "=", "x", "--rep"), ["--repeat"], "options behind --output=x")
    tap.equal(offered("owner", "roo"), ["root"], "users")
    tap.equal(offered("job", "begin", "1", "--uid", "roo"), ["root"], "a user as a value")
    tap.check("true" in offered("stat", "--json", "tru"), "a program")
    tap.check("true" in offered("stat", "--", "tru"), "a program behind --")
    tap.equal(offered("--che", program="uncored"), ["--check"], "options of uncored")


def files():
    """bash completes names of files and folders"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "afile").touch()
        (path / "afolder").mkdir()
        tap.equal(sorted(offered("report", f"{folder}/a")), [f"{folder}/afile", f"{folder}/afolder"], "files")
        tap.equal(offered("job", "end", "1", "--to", f"{folder}/a"), [f"{folder}/afolder"], "folders")
        tap.equal(sorted(offered("stat", "-o", "=", f"{folder}/af")), [f"{folder}/afile", f"{folder}/afolder"], "-o")


def no_uncored():
    """Without uncored no metric is offered, and nothing is said"""
    tap.equal(offered("info", "--explain", "dr", UNCORE_SOCKET="/nonexistent"), [], "metrics")


def typed():
    """An interactive bash completes what is typed"""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "--norc", "--noprofile", "-i"])
    said = b""
    os.write(terminal, f"source {HERE}/uncore; uncore() {{ printf '<%s>' \"$@\"; echo; }}\n".encode())
    os.write(terminal, b"uncore sta\t--inter\t5\n")
    while b"<5>" not in said:
        said += os.read(terminal, 4096)
    os.write(terminal, b"exit\n")
    os.waitpid(pid, 0)
    tap.check(b"<stat><--interval><5>" in said, said)


if __name__ == "__main__":
    tap.run_functions([(case.__doc__, case) for case in (syntax, words, files, no_uncored, typed)])
