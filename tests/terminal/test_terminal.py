# SPDX-License-Identifier: BSD-3-Clause
"""`uncore top` on a terminal: what it leaves behind, how often it asks uncored, and whether its rates are right. Prints TAP.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile

import tap
from terminal import ENTER, READ, SECONDS, UNCORE, WRITE, Machine, Mover, Terminal, name_of, wait_until

GB = 10**9


def signals():
    """every signal that a process can catch ends it with the old screen, and so does q"""
    spared = {signal.SIGKILL, signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU, signal.SIGCONT, signal.SIGCHLD,
              signal.SIGURG, signal.SIGWINCH, signal.SIGXFSZ}  # nobody can catch it, it stops, or it ends no command
    deadly = sorted(number for number in signal.Signals if number < signal.SIGRTMIN and number not in spared)
    with Machine() as machine:
        for number in [None, *deadly]:
            with Terminal(machine) as terminal:
                terminal.wait_for("read +write")
                tap.equal(terminal.end(number), -number if number else 0, f"status after {name_of(number) if number else 'q'}")
                terminal.check_restored()


def keys_of_the_terminal():
    """Ctrl-C and Ctrl-\\ end it, as they end other programs"""
    with Machine() as machine:
        for key, number in (("\x03", signal.SIGINT), ("\x1c", signal.SIGQUIT)):
            with Terminal(machine) as terminal:
                terminal.wait_for("read +write")
                terminal.press(key)
                tap.equal(terminal.process.wait(SECONDS), -number, "status")
                terminal.check_restored()


def stops():
    """Ctrl-Z gives the old screen back; nothing is read until it goes on, and then an interval begins anew"""
    script = f"set -m; '{UNCORE}' top -I 200; echo STOP''PED; read line; fg; echo STATUS $?"
    with Machine() as machine, Terminal(machine, program=["bash", "-c", script]) as terminal:
        terminal.wait_for_figures()
        terminal.press("\x1a")
        wait_until(lambda: b"STOPPED" in terminal.said, "it stops")
        terminal.check_restored()
        before = machine.sweeps()
        machine.set(0, READ, 10**15)  # within one interval that would be a rate of its own
        wait_for_nothing(machine)
        tap.equal(machine.sweeps(), before, "sweeps while it is stopped")
        n = len(terminal.frames())
        terminal.press("\n")
        terminal.wait_for_figures()
        tap.equal(terminal.said.count(ENTER), 2, "screens")
        tap.equal(rates_of(terminal.frames()[n:]), {"0.000"}, "rates after the stop")
        terminal.press("q")
        wait_until(lambda: b"STATUS 0" in terminal.said, "it ends")
        terminal.check_restored()


def rates_of(frames):
    """The reads that they show of any socket."""
    return {match[1] for frame in frames for line in frame if (match := re.match(r" +dram +(\d+\.\d+)", line))}


def wait_for_nothing(machine):
    """As long as other clients take for a few intervals of `uncore top`."""
    subprocess.run([UNCORE, "info"], env=machine.environment, stdout=subprocess.DEVNULL, check=True)
    subprocess.run(["sleep", "1"], check=True)


def exact_sweeps():
    """uncored makes a sweep for the first screen and for each further interval, and none while it is paused"""
    with Machine() as machine:
        before = machine.sweeps()
        with Terminal(machine) as terminal:
            terminal.wait_for_figures()
            terminal.press(" ")
            terminal.wait_for("PAUSED")
            frames = terminal.frames()
            asked = machine.sweeps()
            n = sum("PAUSED" not in frame[0] for frame in frames)
            tap.equal([now - then for then, now in zip(before, asked)], [n, n], "sweeps of so many screens")
            wait_for_nothing(machine)
            tap.equal(machine.sweeps(), asked, "sweeps while it is paused")
            tap.equal(len(terminal.frames()), len(frames), "screens, of which none is new")
            machine.set(0, READ, 10**15)
            terminal.press(" ")
            terminal.wait_for_figures()
            tap.equal(rates_of(terminal.frames()[len(frames):]), {"0.000"}, "rates after the pause")
            tap.equal(terminal.end(), 0, "status")


def without_terminal():
    """without a terminal it refuses, names `uncore stat -I`, and asks for nothing"""
    with Machine() as machine:
        before = machine.sweeps()
        done = subprocess.run([UNCORE, "top"], env=machine.environment, text=True, capture_output=True, check=False)
        tap.equal((done.returncode, done.stdout), (2, ""), "status, and what it printed")
        tap.check("stdout is not a terminal" in done.stderr and "`uncore stat -I 1s`" in done.stderr, done.stderr)
        tap.equal(machine.sweeps(), before, "sweeps")


def comes_back():
    """it says that uncored is gone and shows no figures, and goes on when it is back"""
    with Machine() as machine:
        with Terminal(machine) as terminal:
            terminal.wait_for_figures()
            machine.kill()
            terminal.wait_for("It is asked again every second")
            tap.check(not re.search("dram", "\n".join(terminal.frames()[-1])), f"figures: {terminal.frames()[-1]}")
            machine.start()
            terminal.wait_for_figures()
            tap.equal(terminal.end(), 0, "status")
            terminal.check_restored()


def no_uncored():
    """without uncored it does not begin, and says why"""
    with Machine() as machine:
        with Terminal(machine, UNCORE_SOCKET="/nonexistent") as terminal:
            tap.equal(terminal.process.wait(SECONDS), 1, "status")
            wait_until(lambda: b"/nonexistent" in terminal.said, "the socket is named")
            tap.check(ENTER not in terminal.said, "there was a screen")


def sizes():
    """a screen that is resized is filled, and none of its lines is too wide"""
    with Machine() as machine, Terminal(machine, LANG="C") as terminal:
        terminal.wait_for_figures()
        for width, height in ((40, 10), (200, 60), (80, 24), (20, 3)):
            terminal.resize(width, height)
            frame = wait_until(lambda: next((frame for frame in terminal.frames()[-1:] if len(frame) == height), None),
                               f"a screen has {height} lines")
            tap.check(max(map(len, frame)) <= width, f"wider than {width}: {frame}")
        terminal.end()


def held_back():
    """where a site holds readings back, the interval is the site's, and says so"""
    with Machine("[disclosure]\nmin_interval_ms = 400\n") as machine, Terminal(machine) as terminal:
        terminal.wait_for("every 0.4 s, as the site demands")
        terminal.wait_for_figures()
        terminal.press("++")
        terminal.wait_for("every 0.8 s  ")
        tap.equal(terminal.end(), 0, "status")


def looks():
    """blocks are ASCII unless the locale has UTF-8; NO_COLOR and TERM=dumb are obeyed"""
    with Machine() as machine:
        for variables, utf8, colours in (({}, True, True), ({"LANG": "C", "NO_COLOR": "1"}, False, False)):
            with Terminal(machine, **variables) as terminal:
                terminal.wait_for_figures()
                terminal.end()
                tap.equal("█" in terminal.said.decode(), utf8, f"blocks with {variables}")
                tap.equal(terminal.said.isascii(), not utf8, f"ASCII with {variables}")
                tap.equal(b"\033[1muncore top" in terminal.said, colours, f"colours with {variables}")
        with Terminal(machine, TERM="dumb") as terminal:
            wait_until(lambda: terminal.said.count(b"uncore top  ") > 3, "blocks are printed")
            tap.equal(terminal.end(signal.SIGINT), -signal.SIGINT, "status")
            tap.check(b"\033" not in terminal.said and b"q quit" not in terminal.said, terminal.said)
            tap.check(b"\r\n\r\nuncore top  " in terminal.said, "no line between blocks")


def keys():
    """keys change the interval, the parts and the order, and show the help"""
    with Machine() as machine, Terminal(machine, size=(80, 40)) as terminal:
        terminal.wait_for_figures()
        for key, seen in (("+", "every 0.4 s"), ("+", "every 0.8 s"), ("-", "every 0.4 s"), ("h", "^space +pause"),
                          ("x", "^socket 0"), ("c", "^ +node0 "), ("c", "^ +simulated3 "), ("c", "^socket 1"),
                          ("\033[A", "^socket 0")):
            terminal.press(key)
            terminal.wait_for(seen)
        with Mover(machine, {(1, READ): GB}):
            terminal.press("s")
            wait_until(lambda: re.search("socket 1.*socket 0", " ".join(terminal.frames()[-1])), "the busier socket is above")
        tap.equal(terminal.end(), 0, "status")


def rates():
    """its rates are those of `uncore stat -I` beside it, and those at which the counters move"""
    rates = {(0, READ): 100 * GB, (0, WRITE): 50 * GB, (1, READ): 25 * GB, (1, WRITE): 2 * GB}
    wanted = [f"{rates[socket, kind] / GB:.0f}" for socket in (0, 1) for kind in (READ, WRITE)]

    def fits(figures):
        return all(abs(float(figure) / float(want) - 1) < 0.02 for figure, want in zip(figures, wanted))

    def shown(frame):
        return [figure for line in frame if line.startswith("   dram") for figure in line.split()[1:3]]

    def counted(line):
        sockets = json.loads(line)["sockets"]
        return [socket["metrics"][name]["bytes"] / socket["window_ns"]
                for socket in sockets for name in ("dram.read", "dram.write")]

    with Machine() as machine, Mover(machine, rates), Terminal(machine, "-I", "1s") as terminal:
        with subprocess.Popen([UNCORE, "stat", "-I", "1s", "--json", "--for", "1h"], stderr=subprocess.PIPE,
                              text=True, env=machine.environment) as stat:
            try:
                wait_until(lambda: fits(counted(stat.stderr.readline())), "stat's rates are right")
                wait_until(lambda: any(len(shown(frame)) == 4 and fits(shown(frame)) for frame in terminal.frames()),
                           lambda: f"top's rates are {wanted}: {[shown(frame) for frame in terminal.frames()]}")
            finally:
                stat.kill()
        terminal.end()


def cheap():
    """a screen costs less than 5 ms of CPU, which is 1 % of one at 2 Hz"""
    with Machine() as machine, Mover(machine, {(0, READ): GB}), Terminal(machine, "-I", "100", size=(200, 60)) as terminal:
        wait_until(lambda: len(terminal.frames()) > 50, "there are screens")
        terminal.press("q")
        _, status, used = os.wait4(terminal.process.pid, 0)
        terminal.process.returncode = status
        per_screen = (used.ru_utime + used.ru_stime) / len(terminal.frames())
        print(f"# {1000 * per_screen:.3f} ms of CPU for a screen of 200x60, start and end included")
        tap.check(per_screen < 0.005, f"{per_screen} s")


def in_tmux():
    """a real emulator shows figures, and after q what it showed before"""
    if not shutil.which("tmux"):
        raise tap.Skip("tmux is not installed: ./dev setup --tests")
    with Machine() as machine, tempfile.TemporaryDirectory() as folder:
        def tmux(*words):
            return subprocess.run(["tmux", "-S", f"{folder}/tmux", "-f", os.devnull, *words], env=machine.environment, text=True,
                                  stdout=subprocess.PIPE, check=True).stdout

        def screen():
            return tmux("capture-pane", "-p")
        tmux("new-session", "-d", "-x", "80", "-y", "24", f"echo BEFORE; '{UNCORE}' top -I 200; echo AFTER; exec sleep 600")
        try:
            tmux("set", "-g", "status", "off")
            tmux("resize-window", "-x", "80", "-y", "24")
            wait_until(lambda: re.search(r"socket 1(.*\n)+   dram +0\.000(.*\n)+.*█ read(.*\n)+q quit", screen()),
                       lambda: f"the screen is whole: {screen()}")
            tap.equal("BEFORE" in screen(), False, "the old screen is there")
            tmux("send-keys", "q")
            wait_until(lambda: screen().split() == ["BEFORE", "AFTER"], lambda: f"the old screen is back: {screen()}")
        finally:
            tmux("kill-server")


CASES = [signals, keys_of_the_terminal, stops, exact_sweeps, without_terminal, comes_back, no_uncored, sizes, held_back, looks, keys,
         rates, cheap, in_tmux]

tap.run_functions([(case.__doc__, case) for case in CASES])
