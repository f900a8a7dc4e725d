import { BlockList, isIP } from 'node:net';
import type { IncomingMessage } from 'node:http';

/**
 * What a trusted proxy reports about its client. If the proxy reports nothing or is not trusted, the address is that of the connection, the
 * scheme is `http` and the host is undefined.
 */
export interface Forwarded {
  readonly address: string;
  readonly scheme: 'http' | 'https';
  readonly host: string | undefined;
}

/** Builds a check for trusted proxies from addresses and networks such as `10.0.0.0/8`. */
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

/** Reads the X-Forwarded headers. Any client can send them, so they count only if they come from a configured proxy. */
export function readForwarded(incoming: IncomingMessage, isTrusted: (address: string) => boolean): Forwarded {
  const peer = plainAddress(incoming.socket.remoteAddress ?? '');
  if (!isTrusted(peer)) return { address: peer, scheme: 'http', host: undefined };
  const chain = listOf(incoming.headers['x-forwarded-for']).map(plainAddress);
  // Read from the right: everything left of the first address that is not a trusted proxy was written by an unknown client.
  const client = chain.reverse().find((address) => !isTrusted(address));
  const [scheme] = listOf(incoming.headers['x-forwarded-proto']).slice(-1);
  const [host] = listOf(incoming.headers['x-forwarded-host']).slice(-1);
  return {
    address: client !== undefined && isIP(client) !== 0 ? client : peer,
    scheme: scheme === 'https' ? 'https' : 'http',
    host,
  };
}

/** The key by which an address is counted. For IPv6 it is the /64 network, since one client has 2^64 addresses in it. */
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
