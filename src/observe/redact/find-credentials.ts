/** A part of a text, from `start` up to but not including `end`. */
export type Span = readonly [start: number, end: number];

// All of these patterns take linear time, because no character is read again and again: either no further match can begin within the
// repeated part of a match, or the match takes in that whole part, and the search goes on behind it.
const PREFIXED =
  /(?<![A-Za-z0-9])(?:sk-|[sr]k_(?:live|test)_|whsec_|gh[pousr]_|github_pat_|gl(?:pat|dt|rt)-|xox[abeprs]-|xapp-|AIza|ya29\.|GOCSPX-|npm_|pypi-|dop_v1_|hf_|shp(?:at|ss|ca|pa)_|lin_api_|glsa_|hvs\.|dckr_pat_|figd_|gsk_|pplx-|r8_|sntrys_|xai-|AGE-SECRET-KEY-)[A-Za-z0-9_.-]{16,}/g;
const CLOUD_KEY = /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/g;
const BOT_TOKEN = /(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}/g;
const JWT = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g;
const BEARER = /(?<![A-Za-z0-9])bearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{12,})/gi;
const LONG_BEARER = 20;
const DIGIT = /[0-9]/;

/** Finds credentials by their shape, wherever they are in the text. */
export function findCredentials(text: string): Span[] {
  return [
    ...spansOf(text, PREFIXED).filter(([start, end]) => DIGIT.test(text.slice(start, end))),
    ...spansOf(text, CLOUD_KEY),
    ...spansOf(text, BOT_TOKEN),
    ...spansOf(text, JWT),
    ...findBearers(text),
    ...findPrivateKeys(text),
    ...findUserInfo(text),
  ];
}

function spansOf(text: string, pattern: RegExp): Span[] {
  return Array.from(text.matchAll(pattern), ({ index, 0: found }) => [index, index + found.length] as const);
}

/** "Bearer" is also an ordinary word, so what follows must look generated: 20 characters or more, or a digit in it. */
function findBearers(text: string): Span[] {
  return Array.from(text.matchAll(BEARER), ({ index, 0: found, 1: token = '' }): Span[] => {
    const end = index + found.length;
    return token.length >= LONG_BEARER || DIGIT.test(token) ? [[end - token.length, end]] : [];
  }).flat();
}

const BEGIN = '-----BEGIN ';
const END = '-----END ';
const MAX_LABEL_LENGTH = 64;

/** Finds private keys. If the end of a key is missing, its span reaches to the end of the text. */
export function findPrivateKeys(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (let start = text.indexOf(BEGIN); start >= 0; start = text.indexOf(BEGIN, from)) {
    const label = text.slice(start, start + MAX_LABEL_LENGTH);
    from = start + BEGIN.length;
    if (!label.includes('PRIVATE KEY')) continue;
    const closing = text.indexOf(END, from);
    const after = closing < 0 ? -1 : text.indexOf('-----', closing + END.length);
    const end = after < 0 ? text.length : after + 5;
    spans.push([start, end]);
    from = end;
  }
  return spans;
}

const AFTER_AUTHORITY = /[/?#\s"'<>\\]/g;
const MIN_LONE_USER = 16;

/** Finds the password in `scheme://user:password@host`, or a user name that is so long that it must be a token. */
function findUserInfo(text: string): Span[] {
  const spans: Span[] = [];
  let from = 0;
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', from)) {
    const start = at + 3;
    AFTER_AUTHORITY.lastIndex = start;
    const end = AFTER_AUTHORITY.exec(text)?.index ?? text.length;
    from = Math.max(start, end);
    const authority = text.slice(start, end);
    const sign = authority.lastIndexOf('@');
    if (sign < 0) continue;
    const colon = authority.indexOf(':');
    if (colon >= 0 && colon < sign - 1) spans.push([start + colon + 1, start + sign]);
    else if (colon !== sign - 1 && sign >= MIN_LONE_USER) spans.push([start, start + sign]);
  }
  return spans;
}
