/** 'same-model': the judge grades its own words. 'same-family': words of a relative. */
export type SelfPreference = 'same-model' | 'same-family';

/** Name without vendor, tag and case: "Qwen/Qwen2.5-VL-72B-Instruct:free" is "qwen2.5-vl-72b-instruct". */
const plain = (model: string): string =>
  (model.toLowerCase().split('/').at(-1) ?? '').split(':')[0]?.replaceAll('_', '-').trim() ?? '';

/** The letters that a family's names begin with: qwen, gpt, claude, internvl. */
const familyOf = (model: string): string => /^[a-z]+/.exec(plain(model))?.[0] ?? '';

/**
 * Whether a judge may favour what it grades because it wrote it, or a model of its family did (models prefer
 * their own generations: Panickssery, Bowman and Feng, arXiv 2404.13076). Goes by names alone.
 */
export function selfPreference(judge: string, described: string | null | undefined): SelfPreference | null {
  if (described === null || described === undefined || plain(described) === '') return null;
  if (plain(judge) === plain(described)) return 'same-model';
  const family = familyOf(judge);
  return family !== '' && family === familyOf(described) ? 'same-family' : null;
}
