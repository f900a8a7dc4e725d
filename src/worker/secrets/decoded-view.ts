/** A text after undoing one kind of escaping, with the position of each character in the original text. */
export interface View {
  readonly text: string;
  /** Where the character begins and ends in the original text. */
  startOf(index: number): number;
  endOf(index: number): number;
}

interface Escaping {
  readonly pattern: RegExp;
  /** The characters that an escape stands for, each with the length of its part of the escape. */
  readonly decode: (escape: string) => readonly (readonly [character: string, length: number])[];
}

const JSON_ESCAPE: Escaping = {
  pattern: /\\(?:u[0-9a-fA-F]{4}|["\\/bfnrt'])/g,
  decode: (escape) => [[decodeJson(escape), escape.length]],
};
const PERCENT: Escaping = { pattern: /(?:%[0-9a-fA-F]{2})+/g, decode: decodePercent };
const FORM: Escaping = {
  pattern: /(?:%[0-9a-fA-F]{2})+|\+/g,
  decode: (escape) => (escape === '+' ? [[' ', 1]] : decodePercent(escape)),
};
const HTML: Escaping = {
  pattern: /&(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});/g,
  decode: (escape) => [[decodeEntity(escape), escape.length]],
};
const LINE_BREAK: Escaping = { pattern: /(?:\\[rn]|[\r\n])[ \t]*/g, decode: () => [] };

/** The text itself, and the text with each kind of escape that it contains undone. Each view takes a single pass over the text. */
export function viewsOf(text: string): View[] {
  const views: View[] = [{ text, startOf: (index) => index, endOf: (index) => index + 1 }];
  const add = (view: View, escaping: Escaping): void => {
    const decoded = decode(view, escaping);
    if (decoded !== undefined) views.push(decoded);
  };
  const [plain] = views as [View];
  if (text.includes('\\')) add(plain, JSON_ESCAPE);
  // JSON text inside JSON text is escaped twice, so its escapes are undone a second time.
  const inner = views[1];
  if (inner?.text.includes('\\') === true) add(inner, JSON_ESCAPE);
  if (text.includes('%')) add(plain, PERCENT);
  if (text.includes('+')) add(plain, FORM);
  if (text.includes('&')) add(plain, HTML);
  return views;
}

/** The text as one line; undefined if it already is one. */
export function withoutBreaks(view: View): View | undefined {
  return decode(view, LINE_BREAK);
}

/** Undefined if there was nothing to decode. Only decoded places are stored; between them, characters map one to one. */
function decode(from: View, { pattern, decode: toCharacters }: Escaping): View | undefined {
  const [places, sources, lengths]: [number[], number[], number[]] = [[0], [0], [1]];
  const parts: string[] = [];
  let [length, at] = [0, 0];
  const mark = (source: number, unit: number): void => {
    places.push(length);
    sources.push(source);
    lengths.push(unit);
  };
  for (const { 0: escape, index } of from.text.matchAll(pattern)) {
    parts.push(from.text.slice(at, index));
    length += index - at;
    let source = index;
    for (const [character, unit] of toCharacters(escape)) {
      for (let half = 0; half < character.length; half += 1) {
        mark(source, unit);
        length += 1;
      }
      parts.push(character);
      source += unit;
    }
    at = index + escape.length;
    mark(at, 1);
  }
  if (at === 0) return undefined;
  parts.push(from.text.slice(at));
  const partOf = (index: number): number => lastAtMost(places, index);
  const sourceOf = (index: number): number => {
    const part = partOf(index);
    return lengths[part] === 1 ? sources[part]! + index - places[part]! : sources[part]!;
  };
  return {
    text: parts.join(''),
    startOf: (index) => from.startOf(sourceOf(index)),
    endOf: (index) => from.endOf(sourceOf(index) + lengths[partOf(index)]! - 1),
  };
}

/** Index of the last of the ascending numbers that is at most `max`; 0 if all of them are larger. */
function lastAtMost(numbers: readonly number[], max: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= max) low = middle + 1;
    else high = middle;
  }
  return Math.max(0, low - 1);
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

function decodeJson(escape: string): string {
  const letter = escape[1]!;
  return letter === 'u' ? String.fromCharCode(Number.parseInt(escape.slice(2), 16)) : (SHORT_ESCAPES[letter] ?? letter);
}

/** Decodes UTF-8 bytes, each written as three characters. */
function decodePercent(escape: string): (readonly [string, number])[] {
  const decoded = Buffer.from(escape.replaceAll('%', ''), 'hex').toString('utf8');
  return Array.from(decoded, (character) => [
    character,
    (character === '\uFFFD' ? 1 : Buffer.byteLength(character)) * 3,
  ]);
}

const NAMED: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
};

function decodeEntity(entity: string): string {
  const named = NAMED[entity];
  if (named !== undefined) return named;
  const code = /^&#x/i.test(entity) ? Number.parseInt(entity.slice(3), 16) : Number.parseInt(entity.slice(2), 10);
  return code <= 0x10ffff ? String.fromCodePoint(code) : entity;
}
