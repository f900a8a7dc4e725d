import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { addressKey, createTrustedProxies, readForwarded } from './client-address.ts';

const from = (remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage =>
  ({ socket: { remoteAddress }, headers }) as unknown as IncomingMessage;
const SPOOF = { 'x-forwarded-for': '1.2.3.4', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' };

describe('readForwarded', () => {
  const isTrusted = createTrustedProxies(['10.0.0.0/8', '::1']);

  it('ignores the headers of a client that is no trusted proxy', () => {
    expect(readForwarded(from('127.0.0.1', SPOOF), isTrusted)).toEqual({
      address: '127.0.0.1',
      scheme: 'http',
      host: undefined,
    });
  });

  it('believes a trusted proxy, also one that is written as a mapped address', () => {
    const forwarded = { address: '1.2.3.4', scheme: 'https', host: 'evil.example' };
    expect(readForwarded(from('::ffff:10.1.2.3', SPOOF), isTrusted)).toEqual(forwarded);
    expect(readForwarded(from('::1', SPOOF), isTrusted)).toEqual(forwarded);
  });

  it('takes the last address that is not a trusted proxy, with any text before it', () => {
    const chain = { 'x-forwarded-for': '6.6.6.6, 1.2.3.4, 10.9.9.9' };
    expect(readForwarded(from('10.0.0.1', chain), isTrusted).address).toBe('1.2.3.4');
    expect(readForwarded(from('10.0.0.1', { 'x-forwarded-for': 'garbage' }), isTrusted).address).toBe('10.0.0.1');
  });
});

describe('addressKey', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
  ])('%s counts as %s', (address, key) => {
    expect(addressKey(address)).toBe(key);
  });
});
