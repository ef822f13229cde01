/**
 * Trains the byte-level BPE tokenizer of a miniature model, in the layout of Qwen2's tokenizer.json.
 *
 *   npx tsx scripts/build-tokenizer.ts <corpus.txt> <model folder> [minimum count, default 2]
 *
 * Merges are learnt until every word of the corpus (as Qwen2 splits text) that occurs at least so often is
 * one token, within a vocabulary of 1024. Same corpus, same file. Writes tokenizer.json and sets the
 * vocabulary size and the special token ids in config.json and generation_config.json of the folder.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError, InputError, writeFileAtomic } from '../src/core/index.ts';

export const MAXIMUM_VOCABULARY = 1024;
export const SPECIAL_TOKENS = [
  '<|endoftext|>',
  '<|im_start|>',
  '<|im_end|>',
  '<|vision_start|>',
  '<|vision_end|>',
  '<|image_pad|>',
  '<|video_pad|>',
] as const;

/** How Qwen2 splits text into words; digits stand alone. */
const SPLIT_PATTERN =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
/** The same for JavaScript, which has no inline (?i:...) in Node 20. */
const SPLIT_WORDS = new RegExp(
  SPLIT_PATTERN.replace(
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)",
    "'(?:[sS]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])",
  ),
  'gu',
);

/** GPT-2's printable stand-in for each byte: itself where printable, else a character from U+0100 on. */
function byteCharacters(): string[] {
  const printable = (b: number) => (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
  let next = 256;
  return Array.from({ length: 256 }, (_, b) => String.fromCharCode(printable(b) ? b : next++));
}

const BYTE_CHARACTERS = byteCharacters();

/** Words of a text with their counts, each word as byte characters. */
function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  const pieces = text.normalize('NFC').match(SPLIT_WORDS) ?? [];
  for (const piece of pieces) {
    const word = [...Buffer.from(piece, 'utf8')].map((byte) => BYTE_CHARACTERS[byte]!).join('');
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

/** Learns merges, most frequent pair first (ties: the earlier pair in code-unit order). */
function learnMerges(counts: Map<string, number>, minimumCount: number, limit: number): [string, string][] {
  const words = [...counts]
    .filter(([, count]) => count >= minimumCount)
    .map(([word, count]) => ({ parts: [...word], count }));
  const merges: [string, string][] = [];
  for (;;) {
    const pairs = new Map<string, { pair: [string, string]; count: number }>();
    for (const { parts, count } of words) {
      for (let i = 0; i + 1 < parts.length; i++) {
        const key = `${parts[i]} ${parts[i + 1]}`;
        const known = pairs.get(key);
        if (known === undefined) pairs.set(key, { pair: [parts[i]!, parts[i + 1]!], count });
        else known.count += count;
      }
    }
    const best = [...pairs].sort(
      ([keyA, a], [keyB, b]) => b.count - a.count || (keyA < keyB ? -1 : 1),
    )[0]?.[1].pair;
    if (best === undefined) return merges; // every word is one token
    if (merges.length === limit) {
      const open = words.filter(({ parts }) => parts.length > 1).map(({ parts }) => parts.join(''));
      throw new InputError(
        `${limit} merges leave ${open.length} words in pieces, for example ${open.slice(0, 5).join(', ')}`,
        { hint: 'raise the minimum count or use fewer different words' },
      );
    }
    merges.push(best);
    for (const word of words) word.parts = mergePair(word.parts, best);
  }
}

function mergePair(parts: string[], [left, right]: [string, string]): string[] {
  const result: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    if (parts[i] === left && parts[i + 1] === right) {
      result.push(left + right);
      i++;
    } else result.push(parts[i]!);
  }
  return result;
}

/** The tokenizer.json of a corpus: 256 bytes, one token per merge, then the special tokens. */
export function buildTokenizer(corpus: string, minimumCount: number) {
  const limit = MAXIMUM_VOCABULARY - 256 - SPECIAL_TOKENS.length;
  const merges = learnMerges(countWords(corpus), minimumCount, limit);
  const vocabulary: Record<string, number> = {};
  for (const token of [...BYTE_CHARACTERS].sort()) vocabulary[token] = Object.keys(vocabulary).length;
  // Two ways of cutting may end in the same token; it has one id.
  for (const [left, right] of merges) vocabulary[left + right] ??= Object.keys(vocabulary).length;
  const first = Object.keys(vocabulary).length;
  const addedTokens = SPECIAL_TOKENS.map((content, i) => ({
    id: first + i,
    content,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
    special: true,
  }));
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: addedTokens,
    normalizer: { type: 'NFC' },
    pre_tokenizer: {
      type: 'Sequence',
      pretokenizers: [
        { type: 'Split', pattern: { Regex: SPLIT_PATTERN }, behavior: 'Isolated', invert: false },
        { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
      ],
    },
    post_processor: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: false },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: '',
      end_of_word_suffix: '',
      fuse_unk: false,
      byte_fallback: false,
      vocab: vocabulary,
      merges: merges.map(([left, right]) => `${left} ${right}`),
    },
  };
}

async function patchJson(path: string, changes: Record<string, unknown>): Promise<void> {
  const json = JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  await writeFileAtomic(path, `${JSON.stringify({ ...json, ...changes }, null, 2)}\n`);
}

async function main(): Promise<void> {
  const [corpusPath, folder, minimum = '2'] = process.argv.slice(2);
  if (corpusPath === undefined || folder === undefined || !(Number(minimum) >= 1)) {
    throw new ConfigError(
      'usage: tsx scripts/build-tokenizer.ts <corpus.txt> <model folder> [minimum count]',
    );
  }
  const tokenizer = buildTokenizer(await readFile(corpusPath, 'utf8'), Number(minimum));
  const id = (token: (typeof SPECIAL_TOKENS)[number]) =>
    tokenizer.added_tokens.find(({ content }) => content === token)!.id;
  const ends = { bos_token_id: id('<|endoftext|>'), pad_token_id: id('<|endoftext|>') };
  const size = id('<|video_pad|>') + 1;
  await writeFileAtomic(join(folder, 'tokenizer.json'), `${JSON.stringify(tokenizer, null, 1)}\n`);
  await patchJson(join(folder, 'config.json'), {
    ...ends,
    vocab_size: size,
    eos_token_id: id('<|im_end|>'),
    vision_start_token_id: id('<|vision_start|>'),
    vision_end_token_id: id('<|vision_end|>'),
    image_token_id: id('<|image_pad|>'),
    video_token_id: id('<|video_pad|>'),
  });
  await patchJson(join(folder, 'generation_config.json'), {
    ...ends,
    eos_token_id: [id('<|im_end|>'), id('<|endoftext|>')],
  });
  console.log(`${size} tokens, ${tokenizer.model.merges.length} merges`);
}

if (process.argv[1]?.endsWith('build-tokenizer.ts')) await main();
