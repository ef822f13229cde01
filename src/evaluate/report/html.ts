/** Markup that is safe to insert as it is. Everything else is escaped by the `html` tag. */
export class Html {
  readonly markup: string;
  constructor(markup: string) {
    this.markup = markup;
  }
  toString(): string {
    return this.markup;
  }
}

export type HtmlPart = Html | string | number | readonly HtmlPart[];

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapeHtml = (text: string): string =>
  // Control characters have no meaning in HTML and make some readers stop; show that there was one.
  text.replace(/[&<>"']/g, (character) => ENTITIES[character]!).replace(/[^\P{Cc}\t\n\r]/gu, '\uFFFD');

/** Template tag: values are escaped unless they are Html; lists are joined. */
export function html(strings: TemplateStringsArray, ...values: HtmlPart[]): Html {
  let markup = strings[0]!;
  values.forEach((value, i) => {
    markup += render(value) + strings[i + 1]!;
  });
  return new Html(markup);
}

function render(part: HtmlPart): string {
  if (part instanceof Html) return part.markup;
  if (typeof part === 'object') return part.map(render).join('');
  return escapeHtml(String(part));
}

export const NOTHING = new Html('');
