const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Why nothing may be sent there; undefined when it may. Sent in clear, a question could be read on its way. */
export function findWebhookProblem(address: string): string | undefined {
  if (!URL.canParse(address)) return 'is no address';
  const { protocol, hostname, username, password, hash } = new URL(address);
  if (username !== '' || password !== '') return 'must not hold a user or a password; requests are signed';
  if (hash !== '') return 'must not have a fragment';
  if (protocol === 'https:') return undefined;
  if (protocol !== 'http:') return 'must be https://';
  return LOOPBACK.test(hostname) ? undefined : 'must be https://; http:// is for this machine only';
}
