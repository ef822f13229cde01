/**
 * The first key that an object of a JSON text holds twice, or null. `JSON.parse` keeps the last one without a word,
 * other readers the first: such a file means different things to different programs. The text must be valid JSON.
 */
export function duplicateKey(json: string): string | null {
  /** Of each open object its keys; null for an open list. */
  const open: (Set<string> | null)[] = [];
  let keyExpected = false;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case '{':
        open.push(new Set());
        keyExpected = true;
        break;
      case '[':
        open.push(null);
        keyExpected = false;
        break;
      case '}':
      case ']':
        open.pop();
        keyExpected = false;
        break;
      case ',':
        keyExpected = open.at(-1) != null;
        break;
      case '"': {
        const end = closingQuote(json, at);
        if (keyExpected) {
          const key = JSON.parse(json.slice(at, end + 1)) as string; // escapes spell the same key differently
          const keys = open.at(-1)!;
          if (keys.has(key)) return key;
          keys.add(key);
          keyExpected = false;
        }
        at = end;
      }
    }
  }
  return null;
}

function closingQuote(json: string, start: number): number {
  let at = start + 1;
  while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
  return at;
}
