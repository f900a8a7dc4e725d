import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey, plainAddress } from './client-address.ts';
import { hasBody } from './request-facts.ts';

export interface ConnectionSettings {
  readonly max: number;
  /** Whether a request has proved that its token is valid. */
  readonly isProven: (incoming: IncomingMessage) => boolean;
  /** A client that reads nothing for so long, while bytes wait for it, is cut. */
  readonly writeStallMs: number;
}

export interface Connections {
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Whether what is written to the socket now would be read as the answer to what could not be read from it. */
  canRefuse(socket: Socket): boolean;
}

interface Use {
  readonly address: string;
  /** The request that is being answered. Only one is at a time. */
  current: IncomingMessage | undefined;
  answer: ServerResponse | undefined;
  /** Whether the request has arrived whole. */
  isWhole: boolean;
  wasUsed: boolean;
  /** The last request that was answered here had a valid token. */
  wasProven: boolean;
}

const UNUSED = { current: undefined, answer: undefined, isWhole: false, wasUsed: false, wasProven: false };

/** What a socket is doing; lower ones make room first. */
const RANKS = { neverAsked: 0, resting: 1, answering: 2 } as const;

/**
 * Bounds the sockets of a server, and keeps room for callers with a valid token: when all sockets are taken, one makes room whose
 * client has shown no valid token. It comes from the address that has the most of these sockets, so that an attacker with one address
 * only pushes out their own. Node's own bound would refuse the newest socket, which may be an honest caller's.
 */
export function limitConnections(server: Server, settings: ConnectionSettings): Connections {
  /** In the order in which they were opened. */
  const sockets = new Map<Socket, Use>();

  server.on('connection', (socket) => {
    if (sockets.size >= settings.max && !makeRoom()) {
      socket.destroy();
      return;
    }
    const address = addressKey(plainAddress(socket.remoteAddress ?? ''));
    sockets.set(socket, { ...UNUSED, address });
    socket.once('close', () => sockets.delete(socket));
  });
  server.timeout = settings.writeStallMs;
  server.on('timeout', onTimeout);

  /** Node calls it after a time in which nothing was read from the socket and nothing of what waits could be written. */
  function onTimeout(socket: Socket): void {
    // A call that takes long and a stream without news have nothing to write: they go on.
    if (isAnswering(socket) && socket.writableLength === 0) socket.setTimeout(settings.writeStallMs);
    else socket.destroy();
  }

  const isAnswering = (socket: Socket): boolean => sockets.get(socket)?.current !== undefined;

  const isProven = ({ current, wasProven }: Use): boolean =>
    current === undefined ? wasProven : settings.isProven(current);

  function makeRoom(): boolean {
    const socket = findStranger() ?? findResting();
    if (socket === undefined) return false;
    sockets.delete(socket);
    socket.destroy();
    return true;
  }

  function findStranger(): Socket | undefined {
    const strangers = [...sockets].filter(([, use]) => !isProven(use));
    const counts = new Map<string, number>();
    for (const [, { address }] of strangers) counts.set(address, (counts.get(address) ?? 0) + 1);
    const most = Math.max(...counts.values());
    let found: { readonly socket: Socket; readonly rank: number } | undefined;
    for (const [socket, use] of strangers) {
      const rank = rankOf(use);
      // The first one of its rank is the oldest.
      if (counts.get(use.address) === most && rank < (found?.rank ?? Infinity)) found = { socket, rank };
    }
    return found?.socket;
  }

  /** A caller with a valid token that rests between two requests can connect again. */
  function findResting(): Socket | undefined {
    return [...sockets].find(([, { current }]) => current === undefined)?.[0];
  }

  return {
    canRefuse(socket) {
      const { current, answer } = sockets.get(socket) ?? UNUSED;
      // The rest of a request is missing or broken, and nothing was said about it yet.
      return current === undefined || (!current.complete && answer?.headersSent === false);
    },
    begin(incoming, outgoing) {
      const use = sockets.get(incoming.socket);
      if (use === undefined) return;
      use.current = incoming;
      use.answer = outgoing;
      use.isWhole = !hasBody(incoming);
      if (!use.isWhole) incoming.once('end', () => void (use.isWhole ||= use.current === incoming));
      outgoing.once('close', () => {
        use.wasProven = settings.isProven(incoming);
        use.wasUsed ||= use.isWhole;
        use.current = undefined;
        use.answer = undefined;
      });
    },
  };
}

/** A request that has not arrived whole counts as none: a slow body must not hold a place. */
function rankOf({ current, isWhole, wasUsed }: Use): number {
  if (current !== undefined && isWhole) return RANKS.answering;
  return wasUsed ? RANKS.resting : RANKS.neverAsked;
}
