"""Look at every page of the built site in a headless Chromium, at the width of a phone and of a desktop.

``python docs/check.py docs/_build/html [-o SCREENSHOTS]`` ends with exit code 1 where a page writes to the console,
scrolls sideways, has mathematics that is not rendered or, on a desktop, not seen whole, or a picture that is not
loaded, or where the search does not find what it should. Chromium is the system's own (``apt-get install chromium``).
``--axe axe.min.js`` (``npm install axe-core``) also has axe-core look for what keeps people out: contrast, names, the
keyboard. ``--sample 30`` visits thirty pages, drawn by their names.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

WIDTHS = (390, 1280)
SEARCHES = ("Benders", "gbd", "gmeb-dual", "alpha*")
SHOTS = ("index", "start", "which", "gbd", "models/gmeb-dual", "drivers/dca", "solvers", "api", "notebooks/gbd")
LOOK = """async () => {
  if (window.MathJax && MathJax.startup) await MathJax.startup.promise;
  const root = document.documentElement, found = [];
  if (root.scrollWidth > root.clientWidth) {
    const wide = [...document.querySelectorAll('article *')].find(e => {
      if (e.getBoundingClientRect().right <= root.clientWidth + 1) return false;
      for (let p = e.parentElement; p; p = p.parentElement)
        if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(p).overflowX)) return false;
      return true;
    });
    const culprit = wide ? wide.outerHTML.slice(0, 120) : '';
    found.push(`scrolls sideways: ${root.scrollWidth} of ${root.clientWidth} px ${culprit}`);
  }
  const raw = [...document.querySelectorAll('.math')].filter(e => !e.querySelector('mjx-container'));
  if (raw.length) found.push(`mathematics not rendered: ${raw[0].textContent.slice(0, 60)}`);
  const wrong = document.querySelectorAll('mjx-container [data-mjx-error], mjx-merror').length;
  if (wrong) found.push(`${wrong} formulas with an error`);
  if (window.fitted) { await document.fonts.ready; fitted(); }
  const cut = [...document.querySelectorAll('mjx-container[display="true"]')].filter(
    e => e.clientWidth && e.querySelector('mjx-math').getBoundingClientRect().width
      > Math.min(e.clientWidth, e.parentElement.clientWidth) + 1);
  if (cut.length && innerWidth > 1000) found.push(`${cut.length} formulas cut: ${cut[0].textContent.slice(0, 60)}`);
  const wraps = [...document.querySelectorAll('article .highlight-output pre')].filter(
    e => getComputedStyle(e).whiteSpace !== 'pre');
  if (wraps.length) found.push(`${wraps.length} outputs whose tables wrap`);
  for (const picture of document.images) {
    if (getComputedStyle(picture).display === 'none') continue;
    picture.loading = 'eager';
    await picture.decode().catch(() => found.push(`picture not loaded: ${picture.src}`));
    if (!picture.alt && picture.closest('figure')) found.push(`picture without a description: ${picture.src}`);
  }
  return found;
}"""
"""What a page is asked: the list of its faults."""


AXE = """async () => (await axe.run({resultTypes: ['violations']})).violations.map(
  v => `${v.id} (${v.nodes.length}): ${v.help}: ${v.nodes[0].html.slice(0, 120)}`)"""
"""What axe-core is asked: the list of its violations."""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that writes no log."""

    def log_message(self, format: str, *args: Any) -> None:
        """Write nothing."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        """Send a file as far as the browser reads it: it leaves a page for the next one."""
        with suppress(BrokenPipeError, ConnectionResetError):
            super().copyfile(source, outputfile)


def faults(page: Any, address: str, width: int, axe: Path | None) -> Iterator[str]:
    """Yield the faults of a page at a width."""
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(address, wait_until="load")
    yield from page.evaluate(LOOK)
    if axe is not None:
        page.evaluate(axe.read_text(encoding="utf-8"))
        yield from page.evaluate(AXE)


def search_faults(page: Any, root: str) -> Iterator[str]:
    """Yield the words that the search does not find."""
    for word in SEARCHES:
        page.goto(f"{root}/search.html?q={word.replace('*', '%2A')}")
        try:
            page.wait_for_selector("#search-results li a", timeout=10_000)
        except Exception as error:
            yield f"search for {word!r} finds nothing ({error})"


def drawn(names: list[str], most: int | None) -> list[str]:
    """Return at most so many names, the same ones each time; all for None."""
    return sorted(sorted(names, key=lambda name: sha256(name.encode()).digest())[:most])


def look(folder: Path, shots: Path | None, axe: Path | None, most: int | None) -> int:
    """Visit the pages; return the number of faults."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root = f"http://127.0.0.1:{server.server_port}"
    pages = [str(path.relative_to(folder)) for path in folder.rglob("*.html") if "_static" not in path.parts]
    names = drawn(pages, most)
    count = 0
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page, said = browser.new_page(), []
        page.on("console", lambda told: said.append(f"{told.text} {told.location}") if told.type == "error" else None)
        page.on("pageerror", lambda error: said.append(f"error: {error}"))
        for width in WIDTHS:
            for name in names:
                for fault in [*faults(page, f"{root}/{name}", width, axe), *said]:
                    count += 1
                    print(f"{name} at {width} px: {fault}")
                if shots is not None and name.removesuffix(".html") in SHOTS:
                    for theme in ("light", "dark"):
                        page.evaluate(f"document.body.dataset.theme = '{theme}'")
                        page.screenshot(path=shots / f"{name.replace('/', '-')}-{width}-{theme}.png")
                said.clear()
        for fault in search_faults(page, root):
            count += 1
            print(fault)
        browser.close()
    server.shutdown()
    seen = f"{len(names)} of {len(pages)} pages at {WIDTHS[0]} and {WIDTHS[1]} px, {len(SEARCHES)} searches"
    print(f"{seen}: {count} faults")
    return count


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the built site")
    parser.add_argument("-o", "--screenshots", type=Path, help="a folder for screenshots, of some pages in both themes")
    parser.add_argument("--axe", type=Path, help="the file axe.min.js of axe-core")
    parser.add_argument("--sample", type=int, help="pages that are visited; all without")
    given = parser.parse_args()
    if given.screenshots is not None:
        given.screenshots.mkdir(parents=True, exist_ok=True)
    sys.exit(1 if look(given.folder, given.screenshots, given.axe, given.sample) else 0)
