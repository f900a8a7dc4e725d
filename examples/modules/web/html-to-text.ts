/** Elements whose content is not for reading. */
const SKIPPED = new Set(['script', 'style', 'template', 'noscript', 'svg', 'iframe', 'object', 'textarea', 'select']);
const BREAKS = new Set(
  'address article aside blockquote br dd div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);
const TAG_NAME = /^<\/?([a-zA-Z][a-zA-Z0-9-]{0,20})/u;
const HREF = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))/iu;

/**
 * The words of a page, one line per block, links as [words](url). This is not a full parser: it reads forward once, so that a hostile page
 * costs no more than its length.
 */
export function htmlToText(html: string, base: string): { title?: string | undefined; text: string } {
  const page = new PageText(base);
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    page.addWords(html.slice(at, open === -1 ? undefined : open));
    if (open === -1) break;
    at = html.startsWith('<!--', open) ? after(html, '-->', open + 4) : readTag(html, open, page);
  }
  return { title: page.title, text: page.text };
}

function readTag(html: string, open: number, page: PageText): number {
  const name = TAG_NAME.exec(html.slice(open, open + 24))?.[1]?.toLowerCase();
  if (name === undefined && !/[!?/]/u.test(html.charAt(open + 1))) {
    page.addWords('<');
    return open + 1;
  }
  const end = after(html, '>', open);
  const closing = html.charAt(open + 1) === '/';
  if (name === undefined) return end;
  if (!closing && SKIPPED.has(name)) return skip(html, name, end);
  page.addTag(name, closing, html.slice(open, end));
  return end;
}

function skip(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, 'giu');
  closing.lastIndex = from;
  const found = closing.exec(html);
  return found === null ? html.length : after(html, '>', found.index);
}

function after(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

class PageText {
  readonly #base: string;
  #parts: string[] = [];
  #title: string[] | undefined;
  #inTitle = false;
  #link: string | undefined;

  constructor(base: string) {
    this.#base = base;
  }

  addWords(html: string): void {
    const words = decodeEntities(html).replace(/\s+/gu, ' ');
    if (this.#inTitle) this.#title?.push(words);
    else if (words !== '') this.#parts.push(words);
  }

  addTag(name: string, closing: boolean, tag: string): void {
    if (name === 'title') this.#toggleTitle(!closing);
    else if (name === 'a') this.#toggleLink(closing ? undefined : hrefOf(tag, this.#base));
    else if (BREAKS.has(name)) this.#parts.push(name === 'li' && !closing ? '\n- ' : '\n');
    else if (name === 'td' || name === 'th') this.#parts.push(' ');
  }

  get title(): string | undefined {
    return this.#title?.join('').replace(/\s+/gu, ' ').trim() || undefined;
  }

  get text(): string {
    this.#toggleLink(undefined);
    const lines = this.#parts
      .join('')
      .split('\n')
      .map((line) => line.replace(/ {2,}/gu, ' ').trim());
    return lines.filter((line) => line !== '' && line !== '-').join('\n');
  }

  /** Only the first title is the title of the page. */
  #toggleTitle(entering: boolean): void {
    this.#inTitle = entering && this.#title === undefined;
    if (this.#inTitle) this.#title = [];
  }

  #toggleLink(href: string | undefined): void {
    if (this.#link !== undefined) this.#parts.push(`](${this.#link})`);
    if (href !== undefined) this.#parts.push('[');
    this.#link = href;
  }
}

function hrefOf(tag: string, base: string): string | undefined {
  const match = HREF.exec(tag);
  const href = decodeEntities(match?.[1] ?? match?.[2] ?? match?.[3] ?? '').trim();
  const url = href === '' || href.startsWith('#') ? null : URL.parse(href, base);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined;
}

const ENTITIES: Readonly<Record<string, string | undefined>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  bull: '•',
  middot: '·',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  times: '×',
  deg: '°',
  para: '¶',
  sect: '§',
  auml: 'ä',
  ouml: 'ö',
  uuml: 'ü',
  Auml: 'Ä',
  Ouml: 'Ö',
  Uuml: 'Ü',
  szlig: 'ß',
  eacute: 'é',
  egrave: 'è',
};

function decodeEntities(html: string): string {
  return html.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,8}));/gu, (whole, decimal, hex, name) => {
    if (typeof name === 'string') return (Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : undefined) ?? whole;
    const code = typeof decimal === 'string' ? Number.parseInt(decimal, 10) : Number.parseInt(String(hex), 16);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? String.fromCodePoint(code) : '\uFFFD';
  });
}
