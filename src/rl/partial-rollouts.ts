/**
 * Tokens of a completion that one version of the policy sampled: positions [from, to) of the completion. A rollout
 * that was stopped and continued under newer weights has several. Partial rollouts: Kimi k1.5 (arXiv 2501.12599),
 * section 2.6; used by BAPO (arXiv 2510.18927) to make stale data.
 */
export interface VersionSegment {
  version: number;
  from: number;
  to: number;
}

/** The segments after further tokens were sampled by a version. No tokens leave them as they are. */
export function continueSegments(
  segments: readonly VersionSegment[],
  version: number,
  tokens: number,
): VersionSegment[] {
  requireSegments(segments);
  if (!Number.isInteger(version) || version < 0) {
    throw new RangeError(`partial rollout: version is ${version}, allowed is an integer >= 0`);
  }
  if (!Number.isInteger(tokens) || tokens < 0) {
    throw new RangeError(`partial rollout: ${tokens} tokens were added, allowed is an integer >= 0`);
  }
  if (tokens === 0) return [...segments];
  const last = segments.at(-1);
  if (last === undefined) return [{ version, from: 0, to: tokens }];
  if (version < last.version) {
    throw new RangeError(
      `partial rollout: version ${version} continues tokens of version ${last.version}, allowed is the same or a newer one`,
    );
  }
  if (version === last.version) return [...segments.slice(0, -1), { ...last, to: last.to + tokens }];
  return [...segments, { version, from: last.to, to: last.to + tokens }];
}

/** [tokens] version that sampled each token of the completion. */
export function versionPerToken(segments: readonly VersionSegment[]): Int32Array {
  requireSegments(segments);
  const versions = new Int32Array(segments.at(-1)?.to ?? 0);
  for (const { version, from, to } of segments) versions.fill(version, from, to);
  return versions;
}

/** The version that bounds the staleness of the whole completion; null for one without tokens. */
export function oldestVersion(segments: readonly VersionSegment[]): number | null {
  requireSegments(segments);
  return segments[0]?.version ?? null;
}

/** Refuses what is no history of a completion: gaps, overlaps, empty segments, versions that go back. */
export function requireSegments(segments: readonly VersionSegment[]): void {
  let end = 0;
  let newest = 0;
  for (const { version, from, to } of segments) {
    const whole = [version, from, to].every(Number.isInteger);
    if (!whole || from !== end || to <= from || version < newest) {
      throw new RangeError(
        `partial rollout: tokens ${from} to ${to} of version ${version} follow ${end} tokens up to version ${newest}, ` +
          'allowed are non-empty segments without gaps, versions not falling',
      );
    }
    end = to;
    newest = version;
  }
}
