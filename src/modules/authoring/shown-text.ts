interface HiddenRange {
  readonly what: string;
  readonly pattern: RegExp;
}

/**
 * Characters that a human reviewer does not see but a model reads. The attack: a description hides instructions in tag characters, or a
 * bidirectional override shows the text in another order than the model reads it.
 */
const HIDDEN: readonly HiddenRange[] = [
  // Tab and newline are allowed: people write them in descriptions.
  { what: 'a control character', pattern: /(?![\t\n])\p{Cc}/u },
  { what: 'a bidirectional control', pattern: /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u },
  {
    what: 'a zero-width character',
    pattern:
      /\u034F|[\u00AD\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200D\u2060-\u2065\u206A-\u206F\u3164\uFEFF\uFFA0]/u,
  },
  { what: 'a tag character', pattern: /[\u{E0000}-\u{E0FFF}]/u },
  // One variation selector after an emoji is usual. A sequence of selectors can carry hidden data.
  { what: 'a variation selector', pattern: /[\uFE00-\uFE0D]|[\uFE0E\uFE0F]{2}/u },
  { what: 'half a surrogate pair', pattern: /\p{Surrogate}/u },
];

/** Names the first kind of hidden character in a text that is shown to models and reviewers; undefined if there is none. */
export function findHiddenCharacter(text: string): string | undefined {
  return HIDDEN.find(({ pattern }) => pattern.test(text))?.what;
}

const UNSAFE_IN_NAMES = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
const MAX_FILE_NAME_BYTES = 200;

/** A file name for display: the last part of a path, without characters that could mislead a reader or a terminal. */
export function displayFileName(name: string): string {
  const last = name.split(/[/\\]/u).at(-1) ?? '';
  const clean = last.replace(UNSAFE_IN_NAMES, '').trim();
  if (clean === '' || /^\.+$/u.test(clean)) return 'file';
  return Buffer.byteLength(clean) <= MAX_FILE_NAME_BYTES ? clean : shorten(clean);
}

/** Shortens a file name but keeps the extension, because readers rely on it. */
function shorten(name: string): string {
  const extension = /\.[A-Za-z0-9]{1,10}$/u.exec(name)?.[0] ?? '';
  let stem = '';
  let bytes = extension.length;
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_FILE_NAME_BYTES) break;
    stem += character;
  }
  return stem + extension;
}

const MEDIA_TYPE =
  /^[a-z0-9][a-z0-9!#$&^_.+-]{0,62}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,62}(?:; ?[a-z0-9-]{1,20}=[A-Za-z0-9."_-]{1,60}){0,4}$/iu;

export function isMediaType(text: unknown): text is string {
  return typeof text === 'string' && MEDIA_TYPE.test(text);
}
