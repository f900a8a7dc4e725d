import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey, plainAddress } from './client-address.ts';
import { hasBody } from './request-facts.ts';

export interface ConnectionSettings {
  readonly max: number;
  /** Whether a request has proved that its token is valid. */
  readonly isProven: (incoming: IncomingMessage) => boolean;
  /** A connection is closed if its client reads nothing for this long while bytes wait for it. */
  readonly writeStallMs: number;
}

export interface Connections {
  begin(incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** Whether an error response written to the socket now would be read as the answer to the request that could not be parsed. */
  canRefuse(socket: Socket): boolean;
}

interface Use {
  readonly address: string;
  /** The request that is being answered. There is at most one at a time. */
  current: IncomingMessage | undefined;
  answer: ServerResponse | undefined;
  /** Whether the request has arrived completely. */
  isWhole: boolean;
  wasUsed: boolean;
  /** Whether the last request that was answered on this socket had a valid token. */
  wasProven: boolean;
}

const UNUSED = { current: undefined, answer: undefined, isWhole: false, wasUsed: false, wasProven: false };

/** What a socket is doing. Sockets with a lower rank are closed first to make room. */
const RANKS = { neverAsked: 0, resting: 1, answering: 2 } as const;

/**
 * Limits the sockets of a server, and keeps room for callers with a valid token. When all sockets are taken, a socket whose client has
 * shown no valid token is closed: one of the address that has the most such sockets. So an attacker with one address pushes out only their
 * own sockets. Node's own limit would refuse the newest socket, which may belong to an honest caller.
 */
export function limitConnections(server: Server, settings: ConnectionSettings): Connections {
  /** Oldest socket first. */
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

  /** Node calls this after `writeStallMs` in which nothing was read from the socket and no waiting bytes could be written. */
  function onTimeout(socket: Socket): void {
    // A long call, and a stream without events, have nothing to write for a while. Their sockets stay open.
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
    const max = Math.max(...counts.values());
    let found: { readonly socket: Socket; readonly rank: number } | undefined;
    for (const [socket, use] of strangers) {
      const rank = rankOf(use);
      // The first socket of a rank is the oldest one.
      if (counts.get(use.address) === max && rank < (found?.rank ?? Infinity)) found = { socket, rank };
    }
    return found?.socket;
  }

  /** Finds a socket that is idle between two requests. Its caller has a valid token, but can connect again. */
  function findResting(): Socket | undefined {
    return [...sockets].find(([, { current }]) => current === undefined)?.[0];
  }

  return {
    canRefuse(socket) {
      const { current, answer } = sockets.get(socket) ?? UNUSED;
      // Either no request is being answered, or the rest of the current one is missing or broken and its response has not begun.
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

/**
 * The rank of a socket. A request that has not arrived completely does not count as being answered: a client that sends its body slowly
 * must not keep its socket that way.
 */
function rankOf({ current, isWhole, wasUsed }: Use): number {
  if (current !== undefined && isWhole) return RANKS.answering;
  return wasUsed ? RANKS.resting : RANKS.neverAsked;
}
