"""The style sheet of the page, in the colours and sizes of ``base/theme.py``, for wide and narrow screens and paper."""

from __future__ import annotations

from string import Template

from separatrix.base.theme import DARK, LIGHT, Theme


def variables(theme: Theme) -> str:
    """A theme's colours as CSS variables.

    >>> variables(LIGHT)[:16]
    '--paper: #ffffff'
    """
    return "; ".join(f"--{name}: {colour}" for name, colour in theme.roles().items())


def stylesheet() -> str:
    """The whole style sheet."""
    return _SHEET.substitute(light=variables(LIGHT), dark=variables(DARK))


_SHEET = Template("""
:root { $light }
@media screen and (prefers-color-scheme: dark) { :root { $dark } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--body); font-variant-numeric: tabular-nums;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "DejaVu Sans", Helvetica,
    Arial, sans-serif; }
.page { max-width: 1240px; margin: 0 auto; padding: 24px 24px 48px; }
h1, h2, h3, h4, strong, b { color: var(--ink); font-weight: 600; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; overflow-wrap: break-word; }
h2 { font-size: 18px; line-height: 1.3; margin: 0 0 12px; }
h2 .gloss { color: var(--muted); font-size: 13.5px; font-weight: 400; margin-left: 8px; }
h3 { font-size: 15px; margin: 16px 0 8px; }
p, ul { margin: 0 0 12px; max-width: 70ch; overflow-wrap: break-word; }
a { color: inherit; text-decoration-color: var(--muted); text-underline-offset: .2em; }
a:hover { color: var(--ink); text-decoration-color: currentColor; }
section { border-top: 1px solid var(--rule); padding-top: 24px; margin-top: 32px; }
.subtitle, .aside, figcaption, footer { color: var(--muted); font-size: 13.5px; }
.subtitle { max-width: none; }
nav { font-size: 13.5px; }
nav ul { list-style: none; margin: 0; padding: 0 0 8px; max-width: none; display: flex; gap: 16px; overflow-x: auto; }
nav li { white-space: nowrap; }
nav li.group { display: none; }
nav a { color: var(--muted); text-decoration: none; }
nav a:hover { color: var(--ink); }
.lead { display: grid; gap: 16px 32px; margin-top: 16px; }
.verdict { font-size: 18px; line-height: 1.45; color: var(--ink); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 12px; margin: 16px 0 0; }
.tile { border: 1px solid var(--rule); border-radius: 8px; padding: 12px; }
.tile dt { color: var(--muted); font-size: 12px; }
.tile dd { margin: 0; }
.tile strong { display: block; font-size: 24px; line-height: 1.3; white-space: nowrap; }
.tile span { display: block; color: var(--muted); font-size: 12px; line-height: 1.4; overflow-wrap: break-word; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 24px 32px;
  align-items: start; }
.pair > * { min-width: 0; }
@media (min-width: 1000px) { .pair.broad-right { grid-template-columns: minmax(0, 9fr) minmax(0, 11fr); } }
figure { margin: 0; min-width: 0; }
figure svg { display: block; width: 100%; height: auto; font-family: inherit; overflow: visible; }
figure.narrow { max-width: 40rem; }
figure svg * { stroke-linejoin: round; stroke-linecap: butt; }
figcaption { margin-top: 8px; max-width: 70ch; overflow-wrap: break-word; }
figure.broad { overflow-x: auto; margin-bottom: 16px; }
figure.broad svg { min-width: 40rem; }
.wide { overflow-x: auto; max-width: 100%; margin: 0 0 16px; }
/* A shadow at the side where there is more: where there is none, paper that scrolls along with the table hides it. */
.wide, nav ul {
  background: linear-gradient(to right, var(--paper) 50%, transparent) left / 2rem 100% no-repeat local,
    linear-gradient(to left, var(--paper) 50%, transparent) right / 2rem 100% no-repeat local,
    linear-gradient(to right, var(--rule), transparent) left / .5rem 100% no-repeat scroll,
    linear-gradient(to left, var(--rule), transparent) right / .5rem 100% no-repeat scroll; }
table { border-collapse: collapse; font-size: 13px; width: 100%; }
th, td { text-align: right; padding: 5px 0 5px 12px; border-bottom: 1px solid var(--rule); vertical-align: top;
  white-space: nowrap; }
th:first-child, td:first-child { padding-left: 0; }
th { color: var(--muted); font-weight: 400; font-size: 12px; vertical-align: bottom; }
td.text, th.text { text-align: left; white-space: normal; }
td.text { min-width: 6rem; overflow-wrap: break-word; color: var(--ink); }
.intervals td { white-space: normal; }
tr.now td { background: var(--highlight); color: var(--ink); }
tr.now td:first-child { box-shadow: -8px 0 var(--highlight); }
.bar { display: inline-block; width: 6rem; height: 8px; border-radius: 4px; background: var(--rule); overflow: hidden;
  vertical-align: middle; margin-left: 8px; }
.bar i { display: block; height: 100%; background: var(--ink); }
.mark { margin-right: 4px; }
details { margin: 0 0 12px; }
summary { cursor: pointer; color: var(--muted); }
dd details { margin: 0; }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 16px; margin: 0 0 16px; }
dl.facts dt { color: var(--muted); }
dl.facts dd { margin: 0; min-width: 0; overflow-wrap: break-word; color: var(--ink); }
ul.findings { list-style: none; padding: 0; margin: 0 0 12px; max-width: none; }
.finding { border-left: 3px solid var(--muted); padding: 2px 0 2px 12px; margin: 0 0 8px; max-width: 80ch; }
.finding.error { border-color: var(--alarm); }
.finding.warning { border-color: var(--warn); }
.finding.ok { border-color: var(--ok); }
.cases { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18.5rem), 1fr)); gap: 12px;
  margin: 0 0 16px; }
.case { border: 1px solid var(--rule); border-radius: 8px; padding: 12px; min-width: 0; }
.case h4 { font-size: 13.5px; margin: 0; overflow-wrap: break-word; }
.case p { font-size: 13.5px; margin: 0 0 8px; }
.case ul { list-style: none; margin: 0; padding: 0; font-size: 12px; }
.case li { display: grid; grid-template-columns: minmax(0, 1fr) 4.5rem 3.2rem; gap: 8px; align-items: center;
  border-top: 1px solid var(--rule); padding: 3px 0; }
.case li span.name { overflow-wrap: break-word; min-width: 0; }
.case li span.name b { white-space: nowrap; font-weight: 400; }
.case li b.part { text-align: right; white-space: nowrap; font-weight: 400; }
.two { position: relative; height: 8px;
  background: linear-gradient(var(--muted), var(--muted)) center / 1px 100% no-repeat; }
.two i { position: absolute; top: 0; height: 100%; }
.two i.for { left: 50%; }
.two i.against { right: 50%; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: 13px;
  background: var(--surface); border-radius: 6px; padding: 2px 6px; overflow-wrap: anywhere; }
code.long { padding: 0; background: none; font-size: 12px; }
footer { border-top: 1px solid var(--rule); margin-top: 40px; padding-top: 16px; }
@media screen and (min-width: 1000px) {
  .page { display: grid; grid-template-columns: 168px minmax(0, 1fr); column-gap: 40px; }
  .page > header, .page > footer { grid-column: 1 / -1; }
  nav { position: sticky; top: 16px; align-self: start; max-height: calc(100vh - 32px); overflow-y: auto;
    margin-top: 16px; }
  nav ul { display: block; }
  nav li { white-space: normal; margin: 0 0 6px; line-height: 1.35; }
  nav li.group { display: block; color: var(--muted); font-size: 12px; letter-spacing: .04em; margin: 16px 0 6px;
    text-transform: uppercase; }
  nav a { color: var(--body); }
  #checks ul.findings { columns: 2; column-gap: 32px; }
  #checks .finding { break-inside: avoid; }
  .lead.warned { grid-template-columns: minmax(0, 1.7fr) minmax(0, 1fr); }
}
@media (max-width: 30rem) {
  .page { padding: 16px 16px 32px; }
  h1 { font-size: 20px; }
  h2 .gloss { display: block; margin: 2px 0 0; }
  .verdict { font-size: 15px; }
  .tiles { grid-template-columns: 1fr 1fr; gap: 8px; }
  .tile { padding: 8px 10px; }
  .tile strong { font-size: 18px; }
  th, td { padding-left: 10px; }
  dl.facts { grid-template-columns: 1fr; gap: 0; }
  dl.facts dd { margin-bottom: 8px; }
  .bar { width: 4rem; }
  th { white-space: normal; }
}
@media screen and (max-width: 30rem) {
  /* The cells of a row flow below its first cell, each with the head of its column. */
  .stack, .stack tbody { display: block; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stack tr { display: flex; flex-wrap: wrap; gap: 2px 20px; padding: 8px 0; border-bottom: 1px solid var(--rule); }
  .stack td { display: flex; flex: 1 1 9.5rem; justify-content: space-between; gap: 8px; padding: 0; border: 0; }
  .stack td:first-child { flex-basis: 100%; justify-content: flex-start; }
  .stack td::before { content: attr(data-head); color: var(--muted); font-size: 12px; line-height: 1.65;
    text-align: left; white-space: normal; }
  .stack tr.now { background: var(--highlight); box-shadow: -8px 0 var(--highlight), 8px 0 var(--highlight); }
  .stack tr.now td { background: none; box-shadow: none; }
}
@media print {
  body { font-size: 11px; }
  .page { max-width: none; padding: 0; }
  nav { display: none; }
  .wide { overflow: visible; }
  .pair { grid-template-columns: 1fr 1fr; gap: 1rem 1.5rem; }
  figure.broad { overflow: visible; }
  figure.broad svg { min-width: 0; max-width: 100%; }
  figure, table, tr, dl.facts, .tile, .finding, .case { break-inside: avoid; }
  thead { display: table-header-group; }
  h2, h3 { break-after: avoid; }
  section { margin-top: 1.2rem; padding-top: 1rem; }
}
""")
