/** Replaces a volatile value: its presence still counts, its content does not. */
const GONE = '\u0001';

const DIGIT = 1;
const LETTER = 2;
const COLON = 4;
const OTHER = 8;
const KIND = new Uint8Array(128);
for (const letter of '0123456789') KIND[letter.charCodeAt(0)] = DIGIT;
for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ') KIND[letter.charCodeAt(0)] = LETTER;
for (const letter of '._+-') KIND[letter.charCodeAt(0)] = OTHER;
KIND[':'.charCodeAt(0)] = COLON;

const MIN_HEX_LENGTH = 16;
/**
 * A random token of 20 characters may begin and end with `-` or `_`. These are not counted as part of the word, so 18 characters may
 * remain.
 */
const MIN_TOKEN_LENGTH = 18;
const MAX_JUDGED_LENGTH = 4096;

/**
 * Removes from a text what differs each time although nothing has changed: UUIDs, ULIDs, long hex numbers, ids of 17 to 20 digits, times of
 * day, times since 1970, durations, process ids, random tokens. It goes word by word and never backtracks, so the cost per character does
 * not depend on the content. Dates, ports, short hex and plain numbers are kept, because they can show progress.
 */
export function scrubText(text: string): string {
  const { length } = text;
  let scrubbed = '';
  let copied = 0;
  let start = -1;
  let kinds = 0;
  for (let index = 0; index <= length; index += 1) {
    const letter = index < length ? text.charCodeAt(index) : 0;
    const kind = letter < 128 ? KIND[letter]! : 0;
    if (kind !== 0 && (kind !== COLON || isBetweenDigits(text, index))) {
      // A sign or a dot does not begin a word, but may be inside one.
      if (start < 0 && kind !== OTHER) start = index;
      if (start >= 0) kinds |= kind;
    } else if (start >= 0) {
      if ((kinds & DIGIT) !== 0 || index - start >= MIN_HEX_LENGTH) {
        const end = wordEnd(text, start, index);
        if (isVolatile(text, start, end, kinds)) {
          scrubbed += text.slice(copied, tokenStart(text, start, copied)) + GONE;
          copied = tokenEnd(text, end);
        }
      }
      start = -1;
      kinds = 0;
    }
  }
  return copied === 0 ? text : scrubbed + text.slice(copied);
}

/** A colon between digits belongs to a time of day. Everywhere else a colon ends a word: `at:1763200000`. */
function isBetweenDigits(text: string, index: number): boolean {
  return isDigit(text.charCodeAt(index - 1)) && isDigit(text.charCodeAt(index + 1));
}

function isDigit(letter: number): boolean {
  return letter >= 48 && letter <= 57;
}

/** End of the word without trailing punctuation: the full stop after a word is not part of it. */
function wordEnd(text: string, start: number, index: number): number {
  let end = index;
  while (end > start && !isLetterOrDigit(text.charCodeAt(end - 1))) end -= 1;
  return end;
}

/** `-` and `_` may be characters of a random token, also at its ends. */
function tokenStart(text: string, start: number, min: number): number {
  let first = start;
  while (first > min && isDashOrLine(text.charCodeAt(first - 1))) first -= 1;
  return first;
}

function tokenEnd(text: string, end: number): number {
  let last = end;
  while (last < text.length && isDashOrLine(text.charCodeAt(last))) last += 1;
  return last;
}

function isDashOrLine(letter: number): boolean {
  return letter === 45 || letter === 95;
}

function isLetterOrDigit(letter: number): boolean {
  return letter < 128 && (KIND[letter]! & (DIGIT | LETTER)) !== 0;
}

const CLOCK = /^(?:\d{4}-\d\d-\d\dT)?\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?$/;
const DURATION = /^(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ns|us|ms|msec|s|sec|secs)$/;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
const HEX = /^(?:0x)?[0-9a-f]{16,}$/i;
const ULID = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/i;
/** Snowflakes and other ids made from a counter and a clock. Card numbers are shorter. */
const LONG_ID = /^\d{17,20}$/;

function isVolatile(text: string, start: number, end: number, kinds: number): boolean {
  const length = end - start;
  if (length === 0 || length > MAX_JUDGED_LENGTH) return false;
  if ((kinds & (LETTER | COLON)) === 0) return isVolatileNumber(text, start, end);
  if ((kinds & COLON) !== 0) return isTimeOfDay(text.slice(start, end));
  if (length < MIN_HEX_LENGTH) return isDuration(text, start, end);
  const word = text.slice(start, end);
  return HEX.test(word) || UUID.test(word) || ULID.test(word) || (length >= MIN_TOKEN_LENGTH && isRandom(word));
}

/** A time of day must have seconds, or a date before it: `10:30` alone may be the time of an appointment. */
function isTimeOfDay(word: string): boolean {
  return CLOCK.test(word) && (word.includes('T') || word.indexOf(':') !== word.lastIndexOf(':'));
}

function isDuration(text: string, start: number, end: number): boolean {
  const last = text.charCodeAt(end - 1);
  return (last === 115 || last === 99) && DURATION.test(text.slice(start, end));
}

const MIN_TIME = 10;
const UNIT = / ?(?:ns|us|µs|μs|ms|msec|milliseconds?|s|secs?|seconds?)(?![\w])/y;
const UNIT_LETTERS = 'numsµμ';

function isVolatileNumber(text: string, start: number, end: number): boolean {
  if (end - start >= MIN_TIME) {
    const word = text.slice(start, end);
    if (isTimeSince1970(Number(word)) || LONG_ID.test(word)) return true;
  }
  const next = text.charAt(text.charCodeAt(end) === 32 ? end + 1 : end);
  if (next !== '' && UNIT_LETTERS.includes(next)) {
    UNIT.lastIndex = end;
    if (UNIT.test(text)) return true;
  }
  return isProcessId(text, start);
}

const PROCESS_ID = /(?:^|[^a-z])pid[ :="#]{0,3}$/i;

function isProcessId(text: string, start: number): boolean {
  // Texts contain many numbers, so the regular expression runs only if a "d" is among the 4 characters before the number.
  for (let index = start - 1; index >= 2 && start - index <= 4; index -= 1) {
    const letter = text.charCodeAt(index) | 32;
    if (letter === 100) return PROCESS_ID.test(text.slice(Math.max(0, start - 8), start));
    if (isLetterOrDigit(text.charCodeAt(index))) return false;
  }
  return false;
}

/** Whether the number is a time since 1970 in seconds, milliseconds, microseconds or nanoseconds, in the years 2020 to 2039. */
export function isTimeSince1970(value: number): boolean {
  return isSeconds(value) || isSeconds(value / 1e3) || isSeconds(value / 1e6) || isSeconds(value / 1e9);
}

function isSeconds(value: number): boolean {
  return value >= 1_577_836_800 && value < 2_208_988_800;
}

/**
 * Whether a word looks random: digits and letters alternate often, or lower and upper case letters do. Ordinary words, names and
 * identifiers do not look like that. Names have long parts between `-` and `_`, so a change of character class next to these signs does not
 * count.
 */
function isRandom(word: string): boolean {
  let mixed = 0;
  let turns = 0;
  let notSmall = 0;
  for (let index = 1; index < word.length; index += 1) {
    const before = word.charCodeAt(index - 1);
    const letter = word.charCodeAt(index);
    const kindBefore = KIND[before]!;
    const kind = KIND[letter]!;
    if (letter < 97) notSmall += 1;
    if (kind === OTHER || kindBefore === OTHER) continue;
    if (kind !== kindBefore) mixed += 1;
    else if (kind === LETTER && ((letter ^ before) & 32) !== 0) turns += 1;
  }
  return mixed >= 3 || (mixed + turns >= word.length * 0.3 && notSmall >= word.length * 0.3);
}
