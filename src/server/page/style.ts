import { THEME_CSS } from '../../evaluate/index.ts';

/** Backgrounds of the five levels, light and dark; the ink of the theme keeps 4.5 : 1 on each. */
const LEVEL_COLORS = {
  bad: ['#f6d3cc', '#642f28'],
  poor: ['#f9e0c6', '#5e4021'],
  fair: ['#f4ecc0', '#524a1a'],
  good: ['#dcefcf', '#33501f'],
  excellent: ['#c5e9d6', '#1b543b'],
} as const;

const LEVEL_CSS = Object.entries(LEVEL_COLORS)
  .map(([name, [light, dark]]) => `--${name}: light-dark(${light}, ${dark});`)
  .join(' ');

const LEVEL_RULES = Object.keys(LEVEL_COLORS)
  .map((name) => `.zone-${name}, .level-${name} { background: var(--${name}); }`)
  .join('\n');

/** The style sheet of the page. Its hash stands in the policy, so nothing else can style it. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; ${THEME_CSS} ${LEVEL_CSS} }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0 auto; max-width: 1020px; min-height: 100vh; padding: 2.2rem 1.6rem 3rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; display: flex; flex-direction: column; }
main { flex: 1; }
h1, h2, h3, p, ul, figure { margin: 0; }
h1 { font-size: 1.5rem; letter-spacing: -.02em; line-height: 1.2; }
h2 { font-size: 1.15rem; letter-spacing: -.01em; }
h3 { font-size: .98rem; font-weight: 600; overflow-wrap: anywhere; }
h3:focus { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.unseen { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--panel); padding: .3rem .6rem; color: var(--accent); }
button, select, input { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--edge); border-radius: 8px; }
button { padding: .32rem .85rem; cursor: pointer; min-height: 2.25rem; } button:hover:enabled { border-color: var(--accent); color: var(--accent); }
button:disabled { opacity: .5; cursor: default; }
button[aria-pressed=true] { background: var(--named); border-color: var(--accent); }
.primary { background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 600; padding: .5rem 1.3rem; }
.primary:hover:enabled { color: var(--paper); filter: brightness(1.08); }
.quiet { border-color: transparent; background: none; color: var(--muted); }
.top { display: flex; gap: 1rem; justify-content: space-between; align-items: flex-start; margin-bottom: 1.5rem; }
.brand { display: flex; align-items: center; gap: .65rem; } .brand svg { width: 1.9rem; height: 1.9rem; flex: none; color: var(--accent); }
.lead { color: var(--muted); margin-top: .25rem; text-wrap: balance; }
#theme { font-size: .85rem; }
.drop { display: grid; justify-items: center; gap: .55rem; text-align: center; padding: 3.6rem 1.2rem; background: var(--panel);
  border: 2px dashed var(--edge); border-radius: 16px; transition: border-color .15s, background .15s; }
.drop svg { width: 2.6rem; height: 2.6rem; color: var(--accent); }
.drop .what { font-size: 1.2rem; font-weight: 600; } .drop .how { color: var(--muted); font-size: .88rem; text-wrap: balance; }
.over .drop { border-color: var(--accent); background: var(--named); }
.started .drop { grid-template-columns: auto 1fr auto; justify-items: start; align-items: center; text-align: left; padding: .9rem 1.1rem; gap: .1rem 1rem; }
.started .drop svg { width: 2rem; height: 2rem; grid-row: 1 / 3; } .started .drop .what { font-size: 1rem; align-self: end; } .started .drop .how { grid-column: 2; font-size: .82rem; }
.started .drop button { grid-column: 3; grid-row: 1 / 3; }
kbd { font: .8rem ui-monospace, monospace; border: 1px solid var(--grid); border-bottom-width: 2px; border-radius: 4px; padding: 0 .3rem; background: var(--sunken); }
.token { display: grid; gap: .5rem; margin: 1rem 0 0; padding: 1rem 1.1rem; background: var(--panel); border: 1px solid var(--accent); border-radius: 12px; }
.token .row { display: flex; gap: .6rem; align-items: end; flex-wrap: wrap; } .token label { flex: 1 1 14rem; font-size: .88rem; color: var(--muted); }
.token input { display: block; width: 100%; padding: .4rem .6rem; min-height: 2.25rem; color: var(--ink); }
.guide { margin-top: 2.2rem; color: var(--muted); font-size: .92rem; } .started .guide { display: none; }
.example .band { --low: 55%; --high: 82%; } .example .dot { --at: 69%; } .guide .scale { margin-bottom: .6rem; }
.example .tick-1 { --at: 0%; } .example .tick-2 { --at: 25%; } .example .tick-3 { --at: 50%; } .example .tick-4 { --at: 75%; } .example .tick-5 { --at: 100%; } 
.guide h2 { color: var(--ink); font-size: 1rem; margin-bottom: .7rem; } .guide p { margin-top: .8rem; max-width: 46rem; }
.bar { display: flex; flex-wrap: wrap; gap: .6rem; align-items: center; margin: 1.8rem 0 .9rem; } .bar button, .bar select { font-size: .88rem; }
.bar h2 { margin-right: .2rem; } .bar .status { color: var(--muted); font-size: .9rem; margin-right: auto; display: flex; gap: .7rem; align-items: center; font-variant-numeric: tabular-nums; }
.bar label { font-size: .88rem; color: var(--muted); } .bar select { padding: .32rem .5rem; min-height: 2.25rem; color: var(--ink); margin-left: .3rem; }
progress { appearance: none; height: 6px; border: 0; border-radius: 3px; background: var(--grid); overflow: hidden; width: 100%; display: block; }
progress::-webkit-progress-bar { background: var(--grid); } progress::-webkit-progress-value { background: var(--accent); border-radius: 3px; transition: width .3s; } progress::-moz-progress-bar { background: var(--accent); }
progress:indeterminate { background: linear-gradient(90deg, var(--grid) 30%, var(--accent) 50%, var(--grid) 70%) 0 0 / 220% 100%; animation: slide 1.4s linear infinite; }
progress:indeterminate::-webkit-progress-bar { background: transparent; } progress:indeterminate::-moz-progress-bar { background: transparent; }
#overall { width: 8rem; }
@keyframes slide { from { background-position: 120% 0; } to { background-position: -100% 0; } }
.cards { display: grid; gap: 1rem; }
.card { display: grid; grid-template-columns: 240px minmax(0, 1fr); gap: 1.2rem; padding: 1rem; background: var(--panel); border: 1px solid var(--grid); border-radius: 14px; }
.frame { display: grid; place-items: center; background: var(--sunken); border-radius: 8px; overflow: hidden; min-height: 110px; align-self: start; }
.frame img { display: block; max-width: 100%; max-height: 260px; object-fit: contain; } .no-preview { color: var(--muted); font-size: .85rem; padding: 2rem 1rem; }
.facts { display: flex; flex-direction: column; gap: .7rem; min-width: 0; }
.head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; align-items: baseline; } .size { color: var(--muted); font-size: .82rem; font-variant-numeric: tabular-nums; }
.body { display: grid; gap: .75rem; min-width: 0; } .actions { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: auto; font-size: .88rem; } .actions .quiet { margin-left: auto; }
.state { color: var(--muted); font-size: .92rem; }
.score { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .55rem; }
.value { font-size: 2.5rem; line-height: 1.1; font-weight: 640; letter-spacing: -.03em; font-variant-numeric: tabular-nums; }
.of { color: var(--muted); } .level { padding: .08rem .6rem; border-radius: 99px; font-weight: 600; font-size: .92rem; }
.interval { color: var(--muted); font-size: .88rem; font-variant-numeric: tabular-nums; margin-left: auto; }
.scale { padding: 0 .5rem; }
.lane { position: relative; height: 1.3rem; } .lane::before { content: ''; position: absolute; inset: calc(50% - 1px) 0; background: var(--grid); }
.band { position: absolute; left: var(--low); width: max(4px, calc(var(--high) - var(--low))); top: calc(50% - 5px); height: 10px; border-radius: 5px; background: var(--accent); opacity: .35; }
.dot { position: absolute; left: var(--at); top: 50%; width: 1rem; height: 1rem; transform: translate(-50%, -50%); border-radius: 50%; background: var(--accent); border: 2px solid var(--panel);
  display: grid; place-items: center; font: 700 .68rem/1 system-ui, sans-serif; color: var(--paper); }
.zones { display: grid; grid-template-columns: repeat(5, 1fr); gap: 2px; }
.zone { color: var(--ink); text-align: center; font-size: .76rem; line-height: 1.5rem; overflow: hidden; } .zone:first-child { border-radius: 5px 0 0 5px; } .zone:last-child { border-radius: 0 5px 5px 0; }
.zone.here { font-weight: 700; box-shadow: inset 0 -3px var(--accent); }
.ticks { position: relative; height: 1.15rem; font-size: .74rem; color: var(--muted); font-variant-numeric: tabular-nums; } .ticks span { position: absolute; left: var(--at); transform: translateX(-50%); top: .1rem; }
${LEVEL_RULES}
.reasoning { overflow-wrap: anywhere; white-space: pre-wrap; max-width: 42rem; } .reasoning:empty { display: none; }
.streaming::after { content: ''; display: inline-block; width: .5ch; height: 1.05em; margin-left: .15ch; vertical-align: text-bottom; background: var(--accent); animation: blink 1s steps(2) infinite; }
@keyframes blink { to { opacity: 0; } }
.chips { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .45rem; font-size: .86rem; }
.chip { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 0 .4rem; min-width: 0; padding: .16rem .7rem; border: 1px solid var(--grid); border-radius: 1rem; background: var(--sunken); }
.chip b { font-weight: 600; } .chip > span { color: var(--muted); } .meter { display: inline-flex; gap: 2px; } .meter i { width: 5px; height: 10px; border-radius: 1px; background: var(--grid); } .meter i.on { background: var(--worse); }
.none { color: var(--muted); font-size: .88rem; }
.failure { border-left: 3px solid var(--worse); padding: .25rem .8rem; overflow-wrap: anywhere; } .said { color: var(--muted); font-size: .86rem; padding-left: calc(.8rem + 3px); overflow-wrap: anywhere; }
.more { font-size: .86rem; } summary { cursor: pointer; color: var(--accent); width: fit-content; } pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .4rem 0 0; padding: .6rem .8rem; background: var(--sunken); border-radius: 8px; font: .82rem/1.5 ui-monospace, monospace; }
.comparison { margin-top: 1.8rem; padding: 1.1rem; background: var(--panel); border: 1px solid var(--accent); border-radius: 14px; scroll-margin-top: 1rem; }
.comparison .bar { margin: 0 0 .4rem; } .comparison .bar h2 { margin-right: auto; }
#difference { font-size: 1.05rem; margin-bottom: .9rem; text-wrap: pretty; }
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.1rem; margin-bottom: 1rem; }
.side .frame { height: min(46vh, 380px); } .side .frame img { max-height: 100%; height: 100%; } .side figcaption { display: grid; gap: .45rem; margin-top: .6rem; }
.side .name { display: flex; gap: .5rem; align-items: center; font-size: .9rem; } .side .file { overflow-wrap: anywhere; } .side .value { font-size: 1.9rem; } .side .reasoning { font-size: .92rem; }
.badge { flex: none; display: inline-grid; place-items: center; width: 1.4rem; height: 1.4rem; border-radius: 50%; background: var(--accent); color: var(--paper); font-size: .78rem; font-weight: 700; }
.side-1 .badge, .lane-1 .dot, .lane-1 .band { background: var(--series-5); } .lane + .lane { margin-top: -.1rem; }
.comparison .dot { width: 1.25rem; height: 1.25rem; font-style: normal; }
#hint { margin-top: 1rem; color: var(--muted); font-size: .92rem; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--grid); color: var(--muted); font-size: .84rem; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; justify-content: space-between; }
footer a { color: var(--accent); } footer span:first-child { margin-right: auto; }
noscript p { border-left: 3px solid var(--worse); padding: .3rem .8rem; margin: 1rem 0; }
@media (max-width: 640px) {
  body { padding: 1.2rem .9rem 2rem; } .top { margin-bottom: 1rem; } .drop { padding: 2.2rem 1rem; }
  .started .drop { display: block; padding: .7rem; } .started .drop :is(svg, .how, .what) { display: none; } .started .drop button { width: 100%; }
  .card { grid-template-columns: minmax(0, 1fr); gap: .8rem; padding: .8rem; } .frame img { max-height: 220px; } .interval { margin-left: 0; flex-basis: 100%; }
  .comparison { padding: .8rem; } .pair { gap: .7rem; } .side .frame { height: 34vw; min-height: 0; } .side .reasoning { font-size: .84rem; } .side .meter { display: none; } .comparison .bar h2 { flex-basis: 100%; } .zone { font-size: .68rem; }
  .paste { display: none; } .bar .status { flex-basis: 100%; } #overall { flex: 1; } .cards, .side { min-width: 0; } .side .name { align-items: start; font-size: .82rem; } .chip { padding: .1rem .55rem; }
}
@media (prefers-reduced-motion: reduce) { *, ::before, ::after, ::-webkit-progress-value { animation: none !important; transition: none !important; } progress:indeterminate { background: var(--accent); opacity: .5; } }
@media (forced-colors: active) { .dot, .badge, .meter i.on { forced-color-adjust: none; } .meter i { border: 1px solid; } }
`;
