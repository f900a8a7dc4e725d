import { domainToASCII, domainToUnicode } from 'node:url';
import { ofText, type Judge } from './judgement.ts';

/**
 * Scheme and authority. What WHATWG and other parsers read differently is no match: a backslash or white space before the path
 * (`http://evil.com\@good.com`), a missing slash (`http:evil.com`), no scheme at all (`evil.com`, `//evil.com`).
 */
const AUTHORITY = /^[A-Za-z][A-Za-z0-9+.-]{0,31}:\/\/([^/?#\\\p{Cc}\s]{1,1024})(?=[/?#]|$)/u;
/** What the parser leaves as it is. Parsing costs five times as much as all the rest. */
const PLAIN_NAME = /^(?!.*xn--)(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/;
const MAPPED_IPV4 = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/** The host of an address in one form: lower case, punycode, without port, user and final dot. Undefined when it has none for sure. */
export function hostOfAddress(text: string): string | undefined {
  const authority = AUTHORITY.exec(text)?.[1];
  if (authority === undefined) return undefined;
  const [host = '', ...users] = authority.split('@').reverse();
  return users.length > 1 ? undefined : normaliseHost(host);
}

/** By the WHATWG parser, so `0x7f.1` is 127.0.0.1 and `BÜCHER.example` is xn--bcher-kva.example. A port may follow. */
function normaliseHost(host: string): string | undefined {
  if (PLAIN_NAME.test(host)) return host;
  // Some parsers decode it, some do not.
  if (host.includes('%') || !URL.canParse(`http://${host}/`)) return undefined;
  const { hostname } = new URL(`http://${host}/`);
  const mapped = MAPPED_IPV4.exec(hostname);
  if (mapped !== null) return ipv4Of(Number.parseInt(mapped[1]!, 16), Number.parseInt(mapped[2]!, 16));
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
  return name === '' || name.split('.').includes('') || !isPunycode(name) ? undefined : name;
}

/** Node 24 takes `xn--a` for a name, and Node 20 does not: a verdict must not depend on that. */
function isPunycode(name: string): boolean {
  if (!name.includes('xn--')) return true;
  const decoded = domainToUnicode(name);
  return !decoded.split('.').some((label) => label.startsWith('xn--')) && domainToASCII(decoded) === name;
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** A host as a rule names it: a name, an address with or without brackets, or `*.name` for every name below. Undefined for others. */
export function readHostEntry(entry: string): { readonly name: string; readonly below: boolean } | undefined {
  const below = entry.startsWith('*.');
  const rest = below ? entry.slice(2) : entry;
  const isBareIpv6 = !rest.startsWith('[') && rest.split(':').length > 2;
  const host = isBareIpv6 ? `[${rest}]` : rest;
  // A port, a path, a user or a second star would silently mean nothing.
  if (/[/?#\\@%*\s]|\]./u.test(host) || (!host.startsWith('[') && host.includes(':'))) return undefined;
  const name = normaliseHost(host);
  if (name === undefined || (below && /^\[|^[\d.]+$/.test(name))) return undefined;
  return { name, below };
}

/** Throws on an entry that names no host. */
export function matchHost(entries: readonly string[]): Judge {
  const names = new Set<string>();
  const endings: string[] = [];
  for (const entry of entries) {
    const read = readHostEntry(entry);
    if (read === undefined) throw new RangeError('not a host');
    if (read.below) endings.push(`.${read.name}`);
    else names.add(read.name);
  }
  return ofText((text) => {
    const host = hostOfAddress(text);
    if (host === undefined) return 'unclear';
    return names.has(host) || endings.some((ending) => host.endsWith(ending)) ? 'holds' : 'fails';
  });
}
