import { Html } from './html.ts';
import { THEME_CSS } from './theme.ts';

export const STYLE = new Html(`
:root { color-scheme: light dark; ${THEME_CSS} }
* { box-sizing: border-box; }
html { scroll-padding-top: 3.5rem; }
body { margin: 0 auto; max-width: 1240px; padding: 2.6rem 1.8rem 5rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .3rem; letter-spacing: -.015em; text-wrap: balance; overflow-wrap: anywhere; min-width: 0; }
h2 { font-size: 1.4rem; letter-spacing: -.01em; margin: 3.2rem 0 1rem; }
h3 { font-size: 1.05rem; margin: 2rem 0 .6rem; }
h4 { font-size: .95rem; margin: 1.2rem 0 .5rem; }
small { color: var(--muted); font-weight: 400; font-size: .85em; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .6rem; }
.top { display: flex; gap: 1rem; justify-content: space-between; align-items: flex-start; }
.lead { margin: 0; color: var(--muted); max-width: 50rem; }
.note { color: var(--muted); font-size: .84rem; margin: .5rem 0; max-width: 60rem; }
.warning { border-left: 3px solid var(--worse); padding: .3rem .8rem; margin: .6rem 0; background: var(--panel); }
.warn, .worse { color: var(--worse); } .better { color: var(--better); }
button, select, input { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--edge); border-radius: 7px; }
button { padding: .3rem .8rem; cursor: pointer; } button:hover:enabled { border-color: var(--accent); color: var(--accent); }
button:disabled { opacity: .45; cursor: default; }
#theme { font-size: .85rem; white-space: nowrap; } html:not(.scripted) :is(#theme, .tabs, .controls, .pager, .keys, .key) { display: none; }
nav { position: sticky; top: 0; z-index: 2; display: flex; gap: .2rem 1.4rem; margin: 2rem -1.8rem 0; padding: .7rem 1.8rem; overflow-x: auto;
  background: var(--paper); border-bottom: 1px solid var(--grid); font-size: .9rem; }
nav a { white-space: nowrap; text-decoration: none; color: var(--muted); } nav a:hover, nav a:focus { color: var(--accent); }
.whose { margin: 1.6rem 0 .5rem; color: var(--muted); font-size: .9rem; } .whose b { color: var(--ink); }
.headlines { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 215px), 1fr)); gap: 1px; background: var(--grid);
  border: 1px solid var(--grid); border-radius: 12px; overflow: hidden; }
.headline { background: var(--panel); padding: 1rem 1.2rem; font-size: .92rem; }
.headline .what { color: var(--muted); font-size: .85rem; }
.headline .value { font-size: 2.3rem; font-weight: 620; line-height: 1.2; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.headline .note { margin: .1rem 0 .4rem; font-size: .8rem; } .headline small { white-space: nowrap; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
.results, .behaviour, .differences, .overview { width: 100%; } .scroll:has(.overview) + :is(.note, .scroll) { margin-bottom: 2.4rem; }
th, td { padding: .42rem 1.1rem .42rem 0; text-align: left; vertical-align: baseline; border-bottom: 1px solid var(--grid); }
thead th { color: var(--muted); font-weight: 500; font-size: .82rem; vertical-align: bottom; border-bottom-color: var(--edge); }
tbody th { font-weight: 500; white-space: nowrap; } td { white-space: nowrap; }
td small, th small { display: block; font-size: .78rem; white-space: nowrap; } td.better small, td.worse small { color: inherit; }
tr.split th { padding-top: 1.2rem; font-weight: 650; border-bottom-color: var(--edge); } tr.split small { display: inline; margin-left: .5rem; }
tr.quoted { font-style: italic; color: var(--muted); }
.swatch { display: inline-block; width: .62rem; height: .62rem; border-radius: 50%; margin-right: .5rem; background: var(--swatch); }
th.span { min-width: 9rem; } th.span span:last-child { float: right; } td.span { vertical-align: middle; padding-right: 1.4rem; }
.span { padding-right: 1.4rem; }
.whisker { position: relative; display: block; height: .8rem; min-width: 9rem; background: linear-gradient(var(--grid), var(--grid)) center / 100% 1px no-repeat; }
.whisker::before { content: ''; position: absolute; left: var(--low); width: calc(var(--high) - var(--low)); top: calc(50% - 1px); height: 2px; background: var(--swatch); box-shadow: -1px 0 var(--swatch), 1px 0 var(--swatch); }
.whisker::after { content: ''; position: absolute; left: calc(var(--at) - .25rem); top: calc(50% - .25rem); width: .5rem; height: .5rem; border-radius: 50%; background: var(--swatch); }
abbr { text-decoration: underline dotted; cursor: help; color: var(--muted); }
.tabs { display: flex; flex-wrap: wrap; gap: .4rem; margin-bottom: 1rem; }
.tabs button[aria-selected=true] { background: var(--ink); color: var(--paper); border-color: var(--ink); }
.scripted .panel > h3 { display: none; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 350px), 1fr)); gap: 1rem; margin-bottom: 1rem; }
figure { margin: 0; }
.chart { position: relative; min-width: 0; background: var(--panel); border: 1px solid var(--grid); border-radius: 12px; padding: .9rem 1rem; }
.chart .plot { overflow: hidden; }
.chart svg { display: block; width: 100%; height: auto; max-width: 460px; }
.chart.missing { border-style: dashed; color: var(--muted); }
figcaption { font-weight: 600; font-size: .92rem; margin-bottom: .6rem; overflow-wrap: anywhere; padding-right: 4.6rem; }
.spec { position: absolute; right: .7rem; top: .8rem; font-size: .7rem; font-weight: 400; padding: .05rem .4rem; color: var(--muted); border-color: var(--grid); }
.legend, .key { list-style: none; margin: .5rem 0 0; padding: 0; display: flex; flex-wrap: wrap; gap: .1rem 1rem; font-size: .8rem; color: var(--muted); }
.legend li::before { content: ''; display: inline-block; width: .9rem; height: 4px; border-radius: 2px; margin-right: .4rem; vertical-align: middle; background: var(--swatch); }
.controls { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 10rem), 1fr)); gap: .7rem .9rem; background: var(--sunken); border-radius: 12px; padding: .9rem 1rem; }
.controls label { display: grid; gap: .15rem; font-size: .78rem; color: var(--muted); } .controls .first { grid-column: 1 / -1; display: flex; gap: .9rem; align-items: end; } .controls .first label { flex: 1; }
.controls select, .controls input { font-size: .92rem; padding: .38rem .55rem; color: var(--ink); width: 100%; min-width: 0; }
#count { color: var(--ink); font-weight: 600; margin-right: 1rem; }
kbd { font: .78rem ui-monospace, monospace; border: 1px solid var(--grid); border-bottom-width: 2px; border-radius: 4px; padding: 0 .3rem; background: var(--panel); }
mark { color: var(--ink); padding: .05em .2em; border-radius: 3px; border-bottom: 2px solid; }
mark.right { background: var(--hit); border-color: var(--better); } mark.wrong { background: var(--miss); border-bottom-style: dashed; border-color: var(--worse); }
mark.open { background: var(--named); border-bottom-style: dotted; border-color: var(--accent); }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 350px), 1fr)); gap: 1rem; margin: 1rem 0; scroll-margin-top: 3.5rem; }
.card { display: grid; grid-template-columns: 104px minmax(0, 1fr); gap: .7rem .8rem; align-content: start; background: var(--panel); scroll-margin: 4rem 0 1rem;
  border: 1px solid var(--grid); border-radius: 12px; padding: .9rem; break-inside: avoid; }
.picture { display: block; width: 104px; height: 104px; object-fit: contain; border-radius: 6px; background: var(--sunken); }
.picture.absent { border: 1px dashed var(--edge); color: var(--muted); font-size: .8rem; padding: .6rem; overflow: hidden; }
.facts { min-width: 0; font-size: .84rem; }
.scores { margin: 0; display: flex; flex-wrap: wrap; gap: 0 .55rem; align-items: baseline; } .scores b { font-size: 1rem; font-variant-numeric: tabular-nums; }
.error { margin-left: auto; font-weight: 600; font-variant-numeric: tabular-nums; }
.scale { position: relative; height: 1rem; margin: .2rem .4rem .4rem; background: linear-gradient(var(--grid), var(--grid)) center / 100% 3px no-repeat; }
.scale .std { position: absolute; left: var(--low); width: calc(var(--high) - var(--low)); top: calc(50% - 4px); height: 8px; border-radius: 4px; background: var(--grid); }
.scale .mos, .tick { position: absolute; left: calc(var(--mos) - 1.5px); top: .1rem; width: 3px; height: .8rem; border-radius: 1px; background: var(--ink); }
.tick, .dot { display: inline-block; position: static !important; vertical-align: -.1rem; margin-right: .2rem; } .tick { width: 3px; height: .8rem; } .key { margin: 0 0 .8rem; }
.scale .score, .dot { position: absolute; left: calc(var(--score) - .32rem); top: .18rem; width: .64rem; height: .64rem; border-radius: 50%; background: var(--accent); border: 1.5px solid var(--panel); }
dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0 .6rem; margin: 0; } dt { color: var(--muted); } dd { margin: 0; overflow-wrap: anywhere; }
blockquote { grid-column: 1 / -1; font-size: .9rem; margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.name { grid-column: 1 / -1; margin: 0; font-size: .78rem; color: var(--muted); overflow-wrap: anywhere; display: flex; flex-wrap: wrap; gap: 0 .8rem; }
.more { grid-column: 1 / -1; margin: 0; font-size: .82rem; min-width: 0; } .more pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; font: .82rem/1.45 ui-monospace, monospace; }
.more h4 { margin: .6rem 0 .2rem; font-size: .82rem; }
.none { color: var(--muted); }
.pager { display: flex; gap: 1rem; align-items: center; justify-content: center; font-size: .9rem; }
.group { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 1rem; margin: .6rem 0 1rem; }
.rollouts table { width: 100%; } .answer { white-space: normal; min-width: 22rem; overflow-wrap: anywhere; font-size: .84rem; }
.reward { background: linear-gradient(var(--accent), var(--accent)) left 2rem / calc(var(--part) * .72) 3px no-repeat; }
.provenance td { white-space: normal; overflow-wrap: anywhere; font: .82rem/1.5 ui-monospace, monospace; } .provenance th { white-space: nowrap; }
.sheet { max-width: 100%; height: auto; border-radius: 8px; }
details { margin: .8rem 0; } summary { cursor: pointer; color: var(--accent); width: fit-content; } details > dl { margin: .5rem 0; font-size: .88rem; }
@media (max-width: 640px) { body { padding: 1.4rem 1rem 3rem; } nav { margin: 1.4rem -1rem 0; padding: .6rem 1rem; } h1 { font-size: 1.55rem; }
  .headlines { grid-template-columns: 1fr 1fr; } .headline { padding: .7rem .8rem; } .headline .value { font-size: 1.8rem; }
  .card { grid-template-columns: 88px minmax(0, 1fr); } .picture { width: 88px; height: 88px; } .keys { display: none; }
  .controls { grid-template-columns: 1fr 1fr; } th.span { min-width: 6rem; } .whisker { min-width: 5rem; } th, td { padding-right: .8rem; } .group { grid-template-columns: 1fr; } }
@media print { body { max-width: none; font-size: 11px; padding: 0; } nav, .controls, .pager, .keys, .tabs, .spec, #theme { display: none !important; }
  .panel[hidden] { display: block !important; } h2, h3 { break-after: avoid; } .chart, tr { break-inside: avoid; } }
`);
