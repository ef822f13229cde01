import { Html } from './html.ts';

export const STYLE = new Html(`
:root { color-scheme: light dark;
  --paper: #fcfcfa; --panel: #ffffff; --ink: #1d2126; --muted: #646b74; --grid: #e2e4e6; --accent: #2463a8;
  --better: #1d7a46; --worse: #b3372c;
  --series-1: #8a94a0; --series-2: #2463a8; --series-3: #c8641b; --series-4: #2f8f5b;
  --series-5: #8b4fb0; --series-6: #b38b00; --series-7: #c23d6e; --series-8: #2a9aa8; }
@media (prefers-color-scheme: dark) { :root {
  --paper: #14171a; --panel: #1c2024; --ink: #e6e8ea; --muted: #9aa3ad; --grid: #33393f; --accent: #7fb4ee;
  --better: #6cc792; --worse: #f08d82;
  --series-1: #8f9aa6; --series-2: #7fb4ee; --series-3: #f2a063; --series-4: #72cf9a;
  --series-5: #c79be4; --series-6: #e3c14d; --series-7: #f08bb0; --series-8: #6fd0dc; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 2.5rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .3rem; letter-spacing: -.01em; }
h2 { font-size: 1.3rem; margin: 3rem 0 1rem; padding-top: 1rem; border-top: 1px solid var(--grid); }
h3 { font-size: 1.05rem; margin: 1.8rem 0 .6rem; }
small { color: var(--muted); font-weight: 400; font-size: .85em; }
p.lead { margin: 0; color: var(--muted); max-width: 48rem; }
.note { color: var(--muted); font-size: .85rem; margin: .4rem 0; }
nav { margin: 1rem 0 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; font-size: .9rem; }
a { color: var(--accent); }
.headlines { display: grid; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); gap: 1rem; margin: 2rem 0 0; }
.headline { background: var(--panel); border: 1px solid var(--grid); border-radius: 10px; padding: 1rem 1.2rem; }
.headline .what { color: var(--muted); font-size: .85rem; }
.headline .value { font-size: 2.1rem; font-weight: 600; line-height: 1.25; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; min-width: 60%; }
th, td { padding: .38rem .9rem .38rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--grid); }
thead th { color: var(--muted); font-weight: 500; vertical-align: bottom; }
tbody th { font-weight: 500; min-width: 11rem; } tbody th small { display: block; }
td { white-space: nowrap; }
tr.split th { padding-top: 1.1rem; font-weight: 650; }
.warn { color: var(--worse); }
td.better, .better { color: var(--better); } td.worse, .worse { color: var(--worse); }
td small { color: inherit; opacity: .75; }
abbr { text-decoration: underline dotted; cursor: help; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 340px), 1fr)); gap: 1rem; }
.scatters { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 260px), 1fr)); gap: 1rem; }
figure { margin: 0; }
.chart { background: var(--panel); border: 1px solid var(--grid); border-radius: 10px; padding: .8rem .9rem; }
.chart svg { display: block; width: 100%; height: auto; max-width: 440px; }
.chart.missing { border-style: dashed; color: var(--muted); }
figcaption { min-height: 2.9em; font-weight: 600; font-size: .92rem; margin-bottom: .4rem; overflow-wrap: anywhere; }
.legend { list-style: none; margin: .5rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1rem; font-size: .8rem; color: var(--muted); }
.legend li::before { content: ''; display: inline-block; width: .9rem; height: 3px; border-radius: 2px; margin-right: .4rem; vertical-align: middle; background: var(--swatch); }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 350px), 1fr)); gap: 1rem; }
.card { display: grid; grid-template-columns: 136px minmax(0, 1fr); gap: .7rem .9rem; align-content: start; background: var(--panel);
  border: 1px solid var(--grid); border-radius: 10px; padding: .8rem; break-inside: avoid; }
.picture { display: block; width: 136px; height: 136px; object-fit: contain; image-rendering: pixelated; border-radius: 5px; }
.picture.absent { border: 1px dashed var(--grid); color: var(--muted); font-size: .8rem; padding: .6rem; overflow: hidden; }
.facts { min-width: 0; font-size: .88rem; }
.scores { margin: 0 0 .4rem; display: flex; flex-wrap: wrap; gap: 0 .8rem; }
.scores b { font-size: 1.1rem; font-variant-numeric: tabular-nums; }
.error { margin-left: auto; color: var(--muted); }
dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 .6rem; margin: 0; }
dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
blockquote { grid-column: 1 / -1; font-size: .9rem; margin: 0; padding: 0 0 0 .7rem; border-left: 3px solid var(--grid); white-space: pre-wrap; overflow-wrap: anywhere; }
.provenance td { white-space: normal; overflow-wrap: anywhere; font-family: ui-monospace, monospace; font-size: .82rem; }
.provenance th { white-space: nowrap; }
.sheet { max-width: 100%; image-rendering: pixelated; border-radius: 6px; }
details { margin: .8rem 0; } summary { cursor: pointer; color: var(--accent); }
@media (max-width: 640px) { table { font-size: .8rem; width: 100%; } th, td { padding-right: .5rem; } td { white-space: normal; }
  td small { display: block; white-space: nowrap; } tbody th { min-width: 5.5rem; } thead th { overflow-wrap: anywhere; } }
@media (max-width: 480px) { body { padding: 1.2rem .9rem 3rem; } .card { grid-template-columns: 96px minmax(0, 1fr); } .picture { width: 96px; height: 96px; } }
@media print { body { max-width: none; font-size: 11px; padding: 0; } nav { display: none; } h2 { break-after: avoid; } .chart, tr { break-inside: avoid; } }
`);
