import type { RewardValue } from '../../core/index.ts';
import { type Html, html, NOTHING } from './html.ts';
import { DASH } from './numbers.ts';
import type { ReportData, RolloutRow, StageReport } from './report-data.ts';
import { thumbnail } from './thumbnails.ts';
import { spaced } from './words.ts';

/** Steps whose rollouts are shown: the first, the last, and some between at equal distances. */
const STEPS = 5;
const GROUP = 8;

/** `count` of the values, the ends included, as evenly apart as their number allows. */
export function evenly<T>(values: readonly T[], count: number): T[] {
  if (values.length <= count) return [...values];
  return Array.from(
    { length: count },
    (_, i) => values[Math.round((i * (values.length - 1)) / (count - 1))]!,
  );
}

/** One group per shown step: completions of one picture, the best rewarded first, missing rewards last. */
export function rolloutGroups(rows: readonly RolloutRow[]): RolloutRow[][] {
  const byStep = new Map<number, RolloutRow[]>();
  for (const row of rows) {
    const group = byStep.get(row.step);
    if (group === undefined) byStep.set(row.step, [row]);
    // A step may log several pictures' groups: the first one is shown whole.
    else if (group[0]!.image === row.image) group.push(row);
  }
  const steps = evenly(
    [...byStep.keys()].sort((a, b) => a - b),
    STEPS,
  );
  return steps.map((step) =>
    byStep
      .get(step)!
      .slice(0, GROUP)
      .sort((a, b) => valueOr(b.total) - valueOr(a.total)),
  );
}

const valueOr = (reward: RewardValue): number =>
  reward.status === 'ok' ? reward.value : Number.NEGATIVE_INFINITY;

/** Sampled completions of a stage with what every reward term gave them. */
export async function rolloutSection(
  { name, rollouts = [] }: StageReport,
  picture: ReportData['rolloutPicture'],
): Promise<Html> {
  const groups = rolloutGroups(rollouts);
  if (groups.length === 0) return NOTHING;
  const parts: Html[] = [];
  for (const [i, group] of groups.entries()) parts.push(await groupTable(group, picture, i === 0));
  return html`<h4>Sampled answers and their rewards <small>${name}, ${groups.length} of the logged steps</small></h4>${parts}`;
}

async function groupTable(
  group: readonly RolloutRow[],
  picture: ReportData['rolloutPicture'],
  open: boolean,
): Promise<Html> {
  const { step, image, mos } = group[0]!;
  const terms = [...new Set(group.flatMap((row) => Object.keys(row.terms)))];
  // Terms reach from 0 to 1; their weighted sum may go beyond, and then the largest of the group fills its bar.
  const most = Math.max(1, ...group.map(({ total }) => (total.status === 'ok' ? total.value : 0)));
  const small = picture === undefined ? undefined : await thumbnail(await picture(image));
  const shown =
    small !== undefined && 'uri' in small
      ? html`<img class="picture" loading="lazy" decoding="async" alt="${`picture ${image}`}" src="${small.uri}">`
      : NOTHING;
  const rows = group.map(
    (row) =>
      html`<tr>${rewardCell(row.total, most)}${terms.map((term) => rewardCell(row.terms[term], 1))}<td class="answer">${row.text}${
        row.finishReason === 'length' ? html` <small>(cut by the length limit)</small>` : NOTHING
      }</td></tr>`,
  );
  return html`<details class="rollouts"${open ? html` open` : ''}><summary>step ${step}: ${image}, MOS ${mos.toFixed(2)}</summary>
<div class="group">${shown}<div class="scroll" tabindex="0" role="region" aria-label="${`rewards of step ${step}`}"><table><thead><tr><th scope="col">reward</th>${terms.map(
    (term) => html`<th scope="col">${spaced(term)}</th>`,
  )}<th scope="col">answer</th></tr></thead><tbody>${rows}</tbody></table></div></div></details>`;
}

/** A value with a bar from 0 to `full`, or why there is none. */
function rewardCell(reward: RewardValue | undefined, full: number): Html {
  if (reward === undefined) return html`<td>${DASH}</td>`;
  if (reward.status !== 'ok') return html`<td><abbr title="${reward.reason}">missing</abbr></td>`;
  const width = Math.min(1, Math.max(0, reward.value / full));
  return html`<td class="reward" style="--part: ${(100 * width).toFixed(0)}%">${reward.value.toFixed(2)}</td>`;
}
