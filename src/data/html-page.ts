import sharp from 'sharp';

/** What the pages of data sets share: one self-contained file each, without scripts, its pictures inside. */

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters but tabs and line breaks, halves of pairs, and marks that turn the direction of a text. */
const UNSEEN = /[^\P{Cc}\t\n\r]|[\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Text of strangers (names, messages, answers) for HTML and its attributes. What cannot be seen becomes U+FFFD. */
export const escaped = (text: string | number): string =>
  String(text)
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!)
    .replace(UNSEEN, '\uFFFD');

const THUMBNAIL = 128;
const MOST_PICTURES = 400;

const STYLE = `
:root { color-scheme: light dark; --line: #d0d4da; --soft: #667; --bad: #b3261e; --warn: #9a6700; --good: #1a7f37; --wash: #f2f4f7; }
@media (prefers-color-scheme: dark) { :root { --line: #3a3f47; --soft: #9aa; --bad: #ff8a80; --warn: #e3b341; --good: #57ab5a; --wash: #23272e; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, p, td { overflow-wrap: anywhere; }
table { border-collapse: collapse; } td, th { padding: .25rem .75rem .25rem 0; text-align: left; }
h2 { margin-top: 2.5rem; font-size: 1.1rem; border-bottom: 1px solid var(--line); }
.problem { color: var(--bad); } .warning { color: var(--warn); } .soft { color: var(--soft); }
.finding { margin: .75rem 0; overflow-wrap: anywhere; }
figure { display: inline-block; margin: .25rem .5rem .25rem 0; }
img { max-width: ${THUMBNAIL}px; max-height: ${THUMBNAIL}px; border: 1px solid var(--line); }
`;

/** Nothing is loaded and nothing runs, even if something in the text were taken for markup. */
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'";

/**
 * A page. `body` is HTML, made of texts that went through `escaped`.
 *
 * @param style further rules of this kind of page
 */
export const htmlPage = (title: string, body: string, style = ''): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escaped(title)}</title><style>${STYLE}${style}</style>
<h1>${escaped(title)}</h1>
${body}
</html>
`;

/** Small pictures as data URLs, so that a page can be sent alone; only so many of them. */
export class Thumbnails {
  readonly #pixelLimit: number;
  #left = MOST_PICTURES;

  /** @param pixelLimit larger pictures are not decoded */
  constructor(pixelLimit: number) {
    this.#pixelLimit = pixelLimit;
  }

  /** Empty for a picture that is gone or broken: whoever shows it says so in words. */
  async figure(path: string): Promise<string> {
    if (this.#left-- <= 0) return '';
    let source: string;
    try {
      const file = await sharp(path, { limitInputPixels: this.#pixelLimit, pages: 1 })
        .autoOrient()
        .resize(THUMBNAIL, THUMBNAIL, { fit: 'inside', withoutEnlargement: true })
        .flatten({ background: '#ffffff' })
        .jpeg({ quality: 70 })
        .toBuffer();
      source = `data:image/jpeg;base64,${file.toString('base64')}`;
    } catch {
      return ''; // The finding itself says that the picture is broken or gone.
    }
    return `<figure><img src="${source}" alt="${escaped(path)}" title="${escaped(path)}"></figure>`;
  }
}
