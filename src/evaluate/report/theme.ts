/** Colours of the page by name: the light and the dark value. Text colours keep 4.5 : 1 on paper and panel. */
export const THEME = {
  paper: ['#fbfbf9', '#14171a'],
  panel: ['#ffffff', '#1c2024'],
  sunken: ['#f2f3f1', '#101315'],
  ink: ['#1b2026', '#e8eaec'],
  muted: ['#5d656e', '#a2abb5'],
  grid: ['#e0e3e5', '#343a41'],
  edge: ['#8a9199', '#77808a'],
  accent: ['#1f5fa6', '#86b9f2'],
  better: ['#186f3e', '#74cd9a'],
  worse: ['#ad3126', '#f39a8f'],
  hit: ['#d6efe0', '#1f4a33'],
  miss: ['#fbe1dc', '#5a2a25'],
  named: ['#e3e9f6', '#2b3a55'],
  'series-1': ['#7d8792', '#939ea9'],
  'series-2': ['#1f5fa6', '#86b9f2'],
  'series-3': ['#c05a14', '#f3a468'],
  'series-4': ['#2a8554', '#76d19d'],
  'series-5': ['#8549aa', '#c99fe6'],
  'series-6': ['#96750a', '#e5c552'],
  'series-7': ['#bb3869', '#f290b3'],
  'series-8': ['#20818e', '#73d1dd'],
} as const satisfies Record<string, readonly [light: string, dark: string]>;

export type ThemeColor = keyof typeof THEME;

/** The style sheet's declarations: one set of variables that follows the colour scheme of the page. */
export const THEME_CSS = Object.entries(THEME)
  .map(([name, [light, dark]]) => `--${name}: light-dark(${light}, ${dark});`)
  .join(' ');

/** Colours of series, in order. */
export const SERIES_COLORS = Array.from({ length: 8 }, (_, i) => `var(--series-${i + 1})`);

/** Variables resolved to their light values: for specifications that leave the page. */
export const withLightColors = (text: string): string =>
  text.replace(/var\(--([\w-]+)\)/g, (whole, name: string) => THEME[name as ThemeColor]?.[0] ?? whole);
