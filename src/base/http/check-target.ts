import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { hostOfAuthority } from './host-of-address.ts';
import { isPublicAddress } from './public-address.ts';
import { WebRefusal } from './web-refusal.ts';

export interface Address {
  readonly address: string;
  readonly family: number;
}

export interface WebRules {
  /** Each `host:port` that the operator allows although it is not public. */
  readonly allow: readonly string[];
  readonly resolve?: (host: string) => Promise<readonly Address[]>;
  readonly isPublic?: (address: string) => boolean;
}

/**
 * The authority part of a URL as the WHATWG parser reads it for http and https: after any number of slashes or backslashes. A path without
 * a host does not match.
 */
const AUTHORITY = /^(?:[a-z][a-z0-9+.-]*:[\\/]*|[\\/]{2,})([^\\/?#]*)/i;

/** Rejects a URL that by its text alone cannot be a public web page. The parser turns 0x7f.1 and 2130706433 into 127.0.0.1. */
export function parseWebUrl(text: string, base?: string): URL {
  const url = URL.parse(text, base);
  if (url === null) throw new WebRefusal('URL_INVALID', 'This is not a URL.');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new WebRefusal('URL_REFUSED', 'Only http and https URLs can be fetched.');
  }
  // The attack: http://public.example@internal/ looks like the first host and leads to the second.
  if (url.username !== '' || url.password !== '') {
    throw new WebRefusal('URL_REFUSED', 'A URL with a user name or a password is not fetched.');
  }
  // http://ẞ.example/ leads to one host on Node 22 and to another on Node 24, so a URL with such a host is rejected.
  const authority = AUTHORITY.exec(text.replaceAll(/[\t\n\r]/g, '').trim())?.[1];
  if (authority !== undefined && hostOfAuthority(authority) === undefined) {
    throw new WebRefusal('URL_REFUSED', 'The host of this URL is not a name that all parsers read alike.');
  }
  return url;
}

/**
 * Returns the addresses to connect to. Every one of them must be public: the connection for a name with a public and a private address
 * could go to either. The error message does not contain addresses; otherwise this tool could be used to map the internal network.
 */
export async function checkTarget(url: URL, rules: WebRules): Promise<readonly Address[]> {
  const { resolve = resolveWithSystem, isPublic = isPublicAddress } = rules;
  const host = url.hostname.replace(/^\[|\]$/gu, '');
  const family = isIP(host);
  const addresses = family === 0 ? await resolveName(host, resolve) : [{ address: host, family }];
  if (!isAllowed(url, rules.allow) && !addresses.every(({ address }) => isPublic(address))) {
    const problem = `${url.host} is not on the public internet; only public pages can be fetched.`;
    throw new WebRefusal('ADDRESS_REFUSED', problem);
  }
  return addresses;
}

function isAllowed(url: URL, allow: readonly string[]): boolean {
  return allow.includes(hostAndPort(url));
}

export function hostAndPort(url: URL): string {
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return `${url.hostname}:${port}`;
}

async function resolveName(host: string, resolve: NonNullable<WebRules['resolve']>): Promise<readonly Address[]> {
  const addresses = await resolve(host).catch((error: unknown) => noAddress(host, error));
  return addresses.length === 0 ? noAddress(host) : addresses;
}

function noAddress(host: string, cause?: unknown): never {
  throw new WebRefusal('HOST_UNKNOWN', `The host ${host} is not known.`, cause);
}

function resolveWithSystem(host: string): Promise<readonly Address[]> {
  return lookup(host, { all: true });
}
