"""Tables of the report on a phone: cells below each other, with the heads of their columns, and nothing to scroll."""

import html
import json
import re
import shutil
import subprocess

import pytest

from separatrix.output.report.page import Section, page, table

HEADS = ["column", "step", "odds ratio", "weight per unit", "odds ratio per unit"]
ROWS = [["worst radius", "+4.76", "1.68e+15 (351,371 to 8.04e+24)", "7.361", "1574"]] * 3
BROWSER = shutil.which("chromium")
# Lists the parts of the page that are wider than their place, in a frame of 390 pixels.
PROBE = """<iframe id=f style="border:0;width:390px;height:4000px" srcdoc="{page}"></iframe><script>
onload = () => {{
  const parts = [...document.getElementById("f").contentDocument.querySelectorAll(".wide, .wide td")];
  const beyond = parts.filter(part => part.scrollWidth > part.clientWidth + 1).map(part => part.outerHTML);
  document.body.innerHTML = "<pre>" + JSON.stringify({{all: parts.length, beyond: beyond.length}}) + "</pre>";
}}</script>"""


def test_cells_of_wide_tables_carry_the_heads_of_their_columns():
    wide = table(HEADS, ROWS)
    assert wide.count('data-head="odds ratio per unit"') == len(ROWS)
    assert 'class="stack"' in wide
    assert "data-head" not in table(["class", "rows"], [["yes", "12"]])


def test_heads_of_cells_are_escaped():
    assert 'data-head="&quot;&gt;&lt;b&gt;"' in table(["column", '"><b>', *HEADS], [["a", "b", *HEADS]])


@pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to draw the page")
def test_nothing_scrolls_sideways_at_390_pixels(tmp_path):
    tables = table(HEADS, ROWS) + table(
        ["from P =", "predicted", "precision", "recall"], [["0.1", "61", "0.787", "0.906"]]
    )
    shown = page("title", "subtitle", "", [Section("tables", "Group", "Tables", "all", tables)])
    (tmp_path / "probe.html").write_text(PROBE.format(page=html.escape(shown)), encoding="utf-8")
    words = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=2000", "--dump-dom"]
    done = subprocess.run(
        [BROWSER, *words, str(tmp_path / "probe.html")], capture_output=True, text=True, timeout=120, check=True
    )
    measured = json.loads(re.search(r"<pre>(\{.*?\})</pre>", done.stdout)[1])
    assert measured == {"all": 2 + 15 + 4, "beyond": 0}
