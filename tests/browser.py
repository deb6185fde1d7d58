"""A headless Chromium that tests drive through its DevTools protocol."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import shutil
import subprocess
import threading
import time
import urllib.request

import numpy as np
import pytest
from PIL import Image

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine to look at the page with")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--remote-debugging-port=0",
]


class Page:
    """One page; `console` collects what it logs and what it throws."""

    def __init__(self, socket):
        self._socket = socket
        self._number = 0
        self.console = []
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **parameters):
        """The answer to one command."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=60))
            if message.get("id") == self._number:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def _note(self, message):
        parameters = message.get("params", {})
        if message["method"] == "Runtime.consoleAPICalled":
            said = " ".join(str(each.get("value", each.get("description", ""))) for each in parameters["args"])
            self.console.append((parameters["type"], said))
        elif message["method"] == "Runtime.exceptionThrown":
            self.console.append(("error", json.dumps(parameters["exceptionDetails"])[:500]))
        elif message["method"] == "Log.entryAdded":
            self.console.append((parameters["entry"]["level"], parameters["entry"]["text"]))

    @property
    def errors(self):
        """What went wrong on the page."""
        self.evaluate("1")
        return [said for level, said in self.console if level in ("error", "assert")]

    def open(self, address):
        """Go to an address and wait until its document is there."""
        self.ask("Page.navigate", url=address)
        self.wait_for(lambda: self.evaluate("document.readyState") == "complete", what="the document")
        time.sleep(0.3)

    def evaluate(self, expression):
        """The value of an expression of JavaScript."""
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def pixels(self):
        """The page as (h, w, 3); waits while Chromium has none to show."""
        data = self.wait_for(self._screenshot, what="a screenshot")
        return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"), np.int64)

    def _screenshot(self):
        try:
            return self.ask("Page.captureScreenshot", format="png")["data"]
        except AssertionError as refusal:
            if "Not attached to an active page" not in str(refusal):
                raise
            return None

    def mouse(self, kind, x, y, buttons=0):
        button = "left" if buttons or kind == "mouseReleased" else "none"
        self.ask(
            "Input.dispatchMouseEvent", type=kind, x=int(x), y=int(y), button=button, buttons=buttons, clickCount=1
        )

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, buttons=1)
        self.mouse("mouseReleased", x, y)

    def text(self):
        """All words on the page."""
        return self.evaluate("document.body.innerText") or ""

    def wait_for(self, condition, seconds=30.0, what="the page"):
        """Look again and again until `condition()` is true."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = condition()
            if found is not None and found is not False:
                return found
            time.sleep(0.1)
        raise AssertionError(f"{what} did not come within {seconds} s; console: {self.console[-5:]}")


@contextlib.contextmanager
def chromium(folder, width=800, height=600):
    """A page of a browser with an empty profile in `folder`."""
    from websockets.sync.client import connect

    profile = folder / "profile"
    flags = [*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}", "about:blank"]
    process = subprocess.Popen([CHROMIUM, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port_file = profile / "DevToolsActivePort"
        end = time.monotonic() + 60.0
        while not (port_file.is_file() and port_file.read_text().strip()):
            assert process.poll() is None, "Chromium ended at once"
            assert time.monotonic() < end, "Chromium did not start within 60 s"
            time.sleep(0.05)
        port = port_file.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
            address = next(each for each in json.load(answer) if each["type"] == "page")["webSocketDebuggerUrl"]
        with connect(address, max_size=None, open_timeout=30) as socket:
            yield Page(socket)
    finally:
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def served(page):
    """A live page or a replay, run by a thread of its own until the block is over."""
    runner = threading.Thread(target=page.run, kwargs={"seconds": 100.0}, daemon=True)

    def end():
        raise KeyboardInterrupt

    runner.start()
    try:
        yield page
    finally:
        page._orders.give(end)
        runner.join(timeout=20)
        page.close()
