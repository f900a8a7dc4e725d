import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Calls back once: `finished` when all of the answer was handed to the operating system, `closed` when its connection ended first.
 * Node emits `finish` in both cases, since it gives up what still waits when a socket is destroyed; the socket tells them apart.
 */
export function whenSent(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  tell: (how: 'finished' | 'closed') => void,
): void {
  let isSent = false;
  // Before Node's own listener, which may begin to close the socket.
  outgoing.prependOnceListener('finish', () => (isSent = !incoming.socket.destroyed));
  outgoing.once('close', () => tell(isSent ? 'finished' : 'closed'));
}
