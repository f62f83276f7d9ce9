# SPDX-License-Identifier: BSD-3-Clause
"""Debian's Chromium without a screen, driven by its DevTools protocol through a pair of pipes.

A page is a file. What it writes to the console, what it asks for besides, and errors of its scripts are noted.
"""
import base64
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAM = "chromium-headless-shell"
SECONDS = 60
OPTIONS = [
    "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--hide-scrollbars", "--force-color-profile=srgb",
]


def is_there():
    return shutil.which(PROGRAM) is not None


class Browser:
    """Ends with everything that it started."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="uncored-browser-", ignore_cleanup_errors=True)
        to_read, self.out = os.pipe()
        self.into, to_write = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "bash", PROGRAM, *OPTIONS,
             f"--user-data-dir={self.folder.name}"],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=dict(os.environ, HOME=self.folder.name), start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.rest, self.number, self.events = b"", 0, []

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.say(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)
        os.close(self.out)
        os.close(self.into)
        self.folder.cleanup()

    def call(self, method, session=None, **parameters):
        """Sends a command, and returns its result. Events before it are kept."""
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.out, json.dumps(command).encode() + b"\0")
        while True:
            message = self.next_message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise AssertionError(f"{method}: {message['error']}")
                return message["result"]

    def next_message(self):
        """The next message, an event or not."""
        while b"\0" not in self.rest:
            part = os.read(self.into, 1 << 20)
            if not part:
                raise AssertionError("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        if "method" in message:
            self.events.append(message)
        return message

    def say(self, method, **parameters):
        return self.call(method, self.session, **parameters)

    def run(self, script):
        """The value of an expression in the page."""
        result = self.say("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def show(self, path, width=1280, dark=False, scripts=True, media=""):
        """Opens a page; returns the seconds until it was loaded and drawn."""
        self.events = []
        self.say("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.say("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.say("Emulation.setScriptExecutionDisabled", value=not scripts)
        begin = time.monotonic()
        self.say("Page.navigate", url=pathlib.Path(path).absolute().as_uri())
        while not any(event["method"] == "Page.loadEventFired" for event in self.events):
            self.next_message()
        if scripts:
            self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - begin

    def complaints(self):
        """What the page wrote to the console, and errors."""
        kinds = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
        return [event["params"] for event in self.events if event["method"] in kinds]

    def requests(self):
        """The addresses that were asked for."""
        return [event["params"]["request"]["url"] for event in self.events if event["method"] == "Network.requestWillBeSent"]

    def picture(self, path):
        """The whole page as PNG."""
        data = self.say("Page.captureScreenshot", captureBeyondViewport=True,
                        clip={"x": 0, "y": 0, "width": self.run("document.documentElement.clientWidth"), "scale": 1,
                              "height": min(self.run("document.documentElement.scrollHeight"), 8000)})["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def paper(self):
        """The page as PDF, on the paper that it asks for."""
        return base64.b64decode(self.say("Page.printToPDF", preferCSSPageSize=True)["data"])
