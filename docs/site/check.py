"""Checks the built pages: check.py FOLDER

Every link that stays on disk must lead somewhere, to the anchor too; none may need a network to show the page, and no output
may hold the address of an object. Then each page is opened from disk in Chromium, light and dark, and may neither miss a file
nor write an error to the console. Without chromium and chromedriver (Debian's chromium-driver) that part is skipped.
"""
from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

ADDRESS = re.compile(r"(?:&lt;|<)[^<>&]* at 0x[0-9a-f]{6,}")


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attributes}
        self.anchors.update(values[key] for key in ("id", "name") if key in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag in ("img", "script") and "src" in values:
            self.fetched.append(values["src"])
        if tag == "link" and values.get("rel") == "stylesheet":
            self.fetched.append(values["href"])


def wrong_links(pages: dict[Path, Page]) -> list[str]:
    wrong = []
    for path, page in pages.items():
        for link in page.links + page.fetched:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.fetched and parts.scheme != "data":
                    wrong.append(f"{path.name} fetches {link} from the network")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                wrong.append(f"{path.name} links to {link}, which is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{path.name} links to {link}, and there is no such place on the page")
    return wrong


class Browser:
    """Chromium, driven by chromedriver over HTTP (the WebDriver protocol)."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.call("GET", "/status")
                break
            except OSError:
                time.sleep(0.1)
        options = {"args": ["--headless", "--no-sandbox", "--disable-gpu"]}
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        self.session = "/session/" + self.call("POST", "/session", {"capabilities": wanted})["sessionId"]

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if method != "POST" else json.dumps(body or {}).encode()
        request = urllib.request.Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def complaints(self, path: Path) -> list[str]:
        """What the console has to say of a page."""
        self.call("POST", self.session + "/url", {"url": path.as_uri()})
        found = self.call("POST", self.session + "/se/log", {"type": "browser"})
        return [entry["message"] for entry in found if entry["level"] in ("SEVERE", "WARNING")]

    def scheme(self, name: str) -> None:
        media = {"media": "", "features": [{"name": "prefers-color-scheme", "value": name}]}
        self.call("POST", self.session + "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": media})

    def background(self) -> str:
        script = "return getComputedStyle(document.body).backgroundColor"
        return self.call("POST", self.session + "/execute/sync", {"script": script, "args": []})

    def close(self) -> None:
        self.call("DELETE", self.session)
        self.driver.terminate()
        self.driver.wait()


def wrong_in_browser(pages: list[Path]) -> list[str]:
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        print("the pages are not opened in a browser: there is no chromium with chromedriver here")
        return []
    browser = Browser()
    try:
        wrong, seen = [], set()
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            for path in pages if scheme == "light" else pages[:1]:
                wrong += [f"{path.name}: {message}" for message in browser.complaints(path)]
            seen.add(browser.background())
        return wrong if len(seen) == 2 else [*wrong, "the pages look the same in light and dark"]
    finally:
        browser.close()


def main() -> int:
    pages = {}
    wrong = []
    for path in sorted(Path(sys.argv[1]).rglob("*.html")):
        text = path.read_text()
        pages[path.resolve()] = Page()
        pages[path.resolve()].feed(text)
        wrong += [f"{path.name} shows the address of an object: {found}" for found in ADDRESS.findall(text)]
    wrong += wrong_links(pages) + wrong_in_browser(list(pages))
    print("\n".join(sorted(set(wrong))), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
