import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from './request-facts.ts';

/**
 * Bounds the sockets of a server so that slow ones cannot keep others out: when all are taken, the oldest one makes room on which nothing
 * has been asked, or not completely. Node's own bound would refuse the newest, which is the one that might be honest.
 */
export function limitConnections(
  server: Server,
  most: number,
): { begin(incoming: IncomingMessage, outgoing: ServerResponse): void } {
  /** In order of their coming; the value counts requests that have arrived whole and are being answered. */
  const sockets = new Map<Socket, number>();

  server.on('connection', (socket) => {
    if (sockets.size >= most && !makeRoom()) {
      socket.destroy();
      return;
    }
    sockets.set(socket, 0);
    socket.once('close', () => sockets.delete(socket));
  });

  function count(socket: Socket, change: 1 | -1): void {
    const now = sockets.get(socket);
    if (now !== undefined) sockets.set(socket, now + change);
  }

  function makeRoom(): boolean {
    for (const [socket, underWay] of sockets) {
      if (underWay > 0) continue;
      sockets.delete(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  return {
    begin(incoming, outgoing) {
      const { socket } = incoming;
      let state: 'arriving' | 'whole' | 'ended' = 'arriving';
      const arrived = (): void => {
        if (state !== 'arriving') return;
        state = 'whole';
        count(socket, 1);
      };
      if (!hasBody(incoming)) arrived();
      else incoming.once('end', arrived);
      outgoing.once('close', () => {
        if (state === 'whole') count(socket, -1);
        state = 'ended';
      });
    },
  };
}
