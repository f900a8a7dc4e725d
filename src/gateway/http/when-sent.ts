import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Calls `report` once: with `finished` when the whole response was handed to the operating system, with `closed` when its connection ended
 * first. Node emits `finish` in both cases, since it drops the waiting bytes when a socket is destroyed. The state of the socket
 * distinguishes the two cases.
 */
export function whenSent(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  report: (how: 'finished' | 'closed') => void,
): void {
  let isSent = false;
  // This must run before Node's own listener, which may begin to close the socket.
  outgoing.prependOnceListener('finish', () => (isSent = !incoming.socket.destroyed));
  outgoing.once('close', () => report(isSent ? 'finished' : 'closed'));
}
