import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';

/** What a proxy says of its client. Undefined fields: it says nothing, or is not trusted. */
export interface Forwarded {
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string | undefined;
}

/** Addresses and networks such as `10.0.0.0/8`. */
export function createTrustedProxies(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Everybody can send X-Forwarded headers, so they count only when they come from a proxy that was named. */
export function readForwarded(incoming: IncomingMessage, isTrusted: (address: string) => boolean): Forwarded {
  const peer = plainAddress(incoming.socket.remoteAddress ?? '');
  if (!isTrusted(peer)) return { address: peer, scheme: 'http', host: undefined };
  const chain = listOf(incoming.headers['x-forwarded-for']).map(plainAddress);
  // From the right: what stands left of the first address that is not ours was written by somebody we do not know.
  const client = chain.reverse().find((address) => !isTrusted(address));
  const [scheme] = listOf(incoming.headers['x-forwarded-proto']).slice(-1);
  const [host] = listOf(incoming.headers['x-forwarded-host']).slice(-1);
  return {
    address: client !== undefined && isIP(client) !== 0 ? client : peer,
    scheme: scheme === 'https' ? 'https' : 'http',
    host,
  };
}

/** Of IPv6 the network, since one client has 2^64 addresses in it. */
export function addressKey(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail = ''] = address.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? Array.from({ length: 8 - front.length - back.length }, () => '0') : [];
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`;
}

export function plainAddress(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

function listOf(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '');
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
