import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { hasBody } from './request-facts.ts';

interface Use {
  /** Requests that have arrived whole and are being answered. */
  underWay: number;
  wasUsed: boolean;
}

/**
 * Bounds the sockets of a server so that slow ones cannot keep others out: when all are taken, the oldest one makes room on which nothing
 * has been asked, or not completely. Node's own bound would refuse the newest, which is the one that might be honest.
 */
export function limitConnections(
  server: Server,
  most: number,
): { begin(incoming: IncomingMessage, outgoing: ServerResponse): void } {
  /** In order of their coming. */
  const sockets = new Map<Socket, Use>();

  server.on('connection', (socket) => {
    if (sockets.size >= most && !makeRoom()) {
      socket.destroy();
      return;
    }
    sockets.set(socket, { underWay: 0, wasUsed: false });
    socket.once('close', () => sockets.delete(socket));
  });

  /** First one that never asked anything; only then one that rests between two requests. */
  function makeRoom(): boolean {
    const waiting = [...sockets].filter(([, { underWay }]) => underWay === 0);
    const [socket] = waiting.find(([, { wasUsed }]) => !wasUsed) ?? waiting[0] ?? [];
    if (socket === undefined) return false;
    sockets.delete(socket);
    socket.destroy();
    return true;
  }

  return {
    begin(incoming, outgoing) {
      const use = sockets.get(incoming.socket);
      if (use === undefined) return;
      let state: 'arriving' | 'whole' | 'ended' = 'arriving';
      const arrived = (): void => {
        if (state !== 'arriving') return;
        state = 'whole';
        use.underWay += 1;
        use.wasUsed = true;
      };
      if (!hasBody(incoming)) arrived();
      else incoming.once('end', arrived);
      outgoing.once('close', () => {
        if (state === 'whole') use.underWay -= 1;
        state = 'ended';
      });
    },
  };
}
