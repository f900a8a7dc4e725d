import { hostOfAddress } from './host-of-address.ts';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Why nothing may be sent to this address; undefined if it may be used. Over plain HTTP, an attacker could read a question on its way. */
export function findWebhookProblem(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null) return 'is no address';
  const { protocol, username, password, hash } = url;
  if (protocol !== 'https:' && protocol !== 'http:') return 'must be https://';
  const host = hostOfAddress(address);
  if (host === undefined) return 'is no address';
  if (username !== '' || password !== '') return 'must not hold a user or a password; requests are signed';
  if (hash !== '') return 'must not have a fragment';
  if (protocol === 'https:') return undefined;
  return LOOPBACK.test(host) ? undefined : 'must be https://; http:// is for this machine only';
}
