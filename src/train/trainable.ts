/** Which parameters a stage trains, by Hugging Face name. */
export function trainableNames(
  names: Iterable<string>,
  freeze: { vision: boolean; merger: boolean; language?: boolean },
): string[] {
  return [...names].filter((name) => {
    if (name.startsWith('visual.merger.')) return !freeze.merger;
    if (name.startsWith('visual.')) return !freeze.vision;
    return !freeze.language;
  });
}
