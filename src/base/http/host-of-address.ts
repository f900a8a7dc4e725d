import { domainToASCII, domainToUnicode } from 'node:url';

/**
 * Matches scheme and authority. Addresses that WHATWG and other parsers read differently do not match: a backslash or white space before
 * the path (`http://evil.com\@good.com`), a missing slash (`http:evil.com`), no scheme at all (`evil.com`, `//evil.com`).
 */
const AUTHORITY = /^[A-Za-z][A-Za-z0-9+.-]{0,31}:\/\/([^/?#\\\p{Cc}\s]{1,1024})(?=[/?#]|$)/u;
/**
 * Names that the URL parser returns unchanged, so that they need no parsing. Parsing takes five times as long as all other checks of a
 * host.
 */
const PLAIN_NAME = /^(?!.*xn--)(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/;
/**
 * Matches names without characters that clients read differently. The URL parser keeps `{1}` and `evil.test;` in a name; curl and others
 * give them a meaning.
 */
const SURE_NAME = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/;
const MAPPED_IPV4 = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/**
 * Letters that may stand in a name that is not ASCII. Each release line of Node.js has its own tables for such names: `http://ẞ.example`
 * leads to ss.example on Node 22 and to xn--zca.example on Node 24, and only Node 24 takes `xn--a` for a name. A verdict must not depend on
 * that, so only letters are allowed on which all release lines and other clients agree: Latin, Greek, Cyrillic, Armenian, Indic, Thai,
 * Georgian, kana, Han, Hangul, full width. \u00DF and \u03C2 are excluded, because older clients map them to ss and \u03C3. U+200C and
 * U+200D are excluded everywhere.
 */
const LEFT_TO_RIGHT = [
  String.raw`\u00C0-\u00DE\u00E0-\u024F\u0386-\u038A\u038C\u038E-\u03A1\u03A3-\u03C1\u03C3-\u03FF\u0400-\u0481\u048A-\u04BF\u04C1-\u052F\u0531-\u0556\u0561-\u0586`,
  String.raw`\u0901-\u0C5B\u0C60-\u0CDB\u0CDE-\u0DF3\u0E01-\u0E3A\u0E40-\u0E4E\u10D0-\u10FA\u1E00-\u1E9B\u1EA0-\u1EFF\u1F00-\u1FBC`,
  String.raw`\u3041-\u3096\u30A1-\u30FA\u30FC-\u30FE\u3400-\u4DB5\u4E00-\u9FA5\uAC00-\uD7A3\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A`,
].join('');
/** Hebrew and Arabic letters. Node 22 does not check how they are mixed with other letters, so such labels are checked separately here. */
const RIGHT_TO_LEFT = String.raw`\u05D0-\u05EA\u0620-\u063F\u0641-\u064A\u0671-\u0674\u0679-\u06D3`;
const FULL_STOPS = String.raw`\u3002\uFF0E\uFF61`;

const AGREED_TEXT = new RegExp(`^[!-~${LEFT_TO_RIGHT}${RIGHT_TO_LEFT}${FULL_STOPS}]*$`, 'u');
const AGREED_LABEL = new RegExp(`^[!-~${LEFT_TO_RIGHT}]+$`, 'u');
const RIGHT_TO_LEFT_LABEL = new RegExp(`^[${RIGHT_TO_LEFT}]+$`, 'u');
const LABEL_BESIDE_RIGHT_TO_LEFT = /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * The host of an address in canonical form: lower case, punycode, without port, user and final dot. Undefined if the address has no
 * unambiguous host.
 */
export function hostOfAddress(text: string): string | undefined {
  const authority = AUTHORITY.exec(text)?.[1];
  return authority === undefined ? undefined : hostOfAuthority(authority);
}

/** The host in `user:password@host:port`. */
export function hostOfAuthority(authority: string): string | undefined {
  const [host = '', ...users] = authority.split('@').reverse();
  return users.length > 1 ? undefined : normaliseHost(host);
}

/**
 * Normalises a host with the WHATWG parser: `0x7f.1` becomes 127.0.0.1, `BÜCHER.example` becomes xn--bcher-kva.example. A port may follow
 * the host and is dropped. Undefined if clients may read the host differently.
 */
export function normaliseHost(host: string): string | undefined {
  if (PLAIN_NAME.test(host)) return host;
  // Some parsers decode percent-encoding in a host, some do not.
  if (host.includes('%') || !AGREED_TEXT.test(host)) return undefined;
  // URL.canParse is not used: on Node 22 it rejects `http://é/` as soon as V8 has optimised the caller.
  const hostname = URL.parse(`http://${host}/`)?.hostname ?? '';
  const mapped = MAPPED_IPV4.exec(hostname);
  if (mapped !== null) return ipv4Of(Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16));
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return !SURE_NAME.test(name) || name.split('.').includes('') || !isAgreedName(name) ? undefined : name;
}

function isAgreedName(name: string): boolean {
  if (!name.includes('xn--')) return true;
  const decoded = domainToUnicode(name);
  return domainToASCII(decoded) === name && areAgreedLabels(decoded.split('.'));
}

function areAgreedLabels(labels: readonly string[]): boolean {
  // A label that still begins with `xn--` after decoding is punycode that cannot be decoded, or punycode for a text that needs none.
  if (labels.some((label) => label.startsWith('xn--'))) return false;
  const others = labels.filter((label) => !RIGHT_TO_LEFT_LABEL.test(label));
  const allowed = others.length === labels.length ? AGREED_LABEL : LABEL_BESIDE_RIGHT_TO_LEFT;
  return others.every((label) => allowed.test(label));
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
