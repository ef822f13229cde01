import { listNames, type Progress, StorageError, sha256OfFile, silentProgress } from '../../core/index.ts';
import { type Dataset, inParallel } from '../load.ts';

/** SHA-256 of each image file in the order of the records; null where it can't be read, as of labels alone. */
export async function contentsOf(
  { images }: Pick<Dataset, 'images'>,
  { progress = silentProgress, signal }: { progress?: Progress; signal?: AbortSignal | undefined } = {},
): Promise<(string | null)[]> {
  const contents: (string | null)[] = images.map(() => null);
  let done = 0;
  progress.start('images', images.length);
  try {
    await inParallel(images.length, 8, async (i) => {
      signal?.throwIfAborted();
      try {
        contents[i] = await sha256OfFile(images[i]!);
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
      }
      progress.update(++done);
    });
  } finally {
    progress.stop();
  }
  return contents;
}

/** What is worth knowing about equal files, one sentence each. */
export function contentNotes(
  { records }: Pick<Dataset, 'records'>,
  contents: readonly (string | null)[],
  rule: 'group' | 'official',
): string[] {
  const byContent = new Map<string, number[]>();
  for (const [i, content] of contents.entries()) {
    if (content === null) continue;
    const same = byContent.get(content);
    if (same === undefined) byContent.set(content, [i]);
    else same.push(i);
  }
  const sets = [...byContent.values()].filter((same) => same.length > 1);
  const across = sets.filter((same) => new Set(same.map((i) => records[i]!.split)).size > 1);
  const withCross = across.filter((same) => same.some((i) => records[i]!.split === 'cross'));
  const notes: string[] = [];
  if (rule === 'group' && sets.length > 0) {
    const count = sets.reduce((sum, same) => sum + same.length, 0);
    notes.push(
      `${count} images are equal byte for byte in ${sets.length} set(s); each set stays in one split`,
    );
  }
  const apart = rule === 'official' ? across : withCross;
  if (apart.length > 0) {
    const names = listNames(apart[0]!.map((i) => records[i]!.id));
    const where = rule === 'official' ? 'several official splits' : 'the cross split and others';
    notes.push(`WARNING: ${apart.length} picture(s) lie in ${where}, equal byte for byte: ${names}`);
  }
  const unread = contents.filter((content) => content === null).length;
  if (unread > 0) {
    notes.push(`${unread} image files are not there: equal pictures among them are not known`);
  }
  return notes;
}
