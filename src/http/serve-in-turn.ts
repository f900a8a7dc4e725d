import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface Turns {
  isBusy: boolean;
  /** Requests of this socket that Node has parsed already, in their order. */
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
}

/** Requests that a client may send ahead on one socket, before it has read the answers. A socket with more of them is cut. */
export const MAX_REQUESTS_AHEAD = 64;

/**
 * Serves one request of a socket at a time: the next one begins when the answer before it was handed to the operating system.
 * Node would begin all of them at once, and an attacker who sends thousands of requests and reads nothing would make this process
 * hold thousands of answers. For `request`, `checkContinue` and `checkExpectation` of a server.
 */
export function serveInTurn(listener: RequestListener): RequestListener {
  const sockets = new WeakMap<Socket, Turns>();

  function turnsOf(socket: Socket): Turns {
    const known = sockets.get(socket);
    if (known !== undefined) return known;
    const turns: Turns = { isBusy: false, waiting: [] };
    sockets.set(socket, turns);
    // Node never emits `close` on an answer that waits behind another one, so these requests end with their socket.
    socket.once('close', () => void (turns.waiting.length = 0));
    return turns;
  }

  function begin(turns: Turns, incoming: IncomingMessage, outgoing: ServerResponse): void {
    turns.isBusy = true;
    outgoing.once('close', () => {
      if (turns.waiting.length === 0) turns.isBusy = false;
      // Other sockets get their turn first: one client's requests, one after the other, would keep everybody waiting.
      else setImmediate(() => beginNext(turns));
    });
    listener(incoming, outgoing);
  }

  function beginNext(turns: Turns): void {
    const next = turns.waiting.shift();
    // Their socket has closed in the meantime.
    if (next === undefined) turns.isBusy = false;
    else begin(turns, ...next);
  }

  return (incoming, outgoing) => {
    const { socket } = incoming;
    // The rest of what was read before the socket was cut.
    if (socket.destroyed) return;
    const turns = turnsOf(socket);
    if (!turns.isBusy) return begin(turns, incoming, outgoing);
    if (turns.waiting.length < MAX_REQUESTS_AHEAD) return void turns.waiting.push([incoming, outgoing]);
    cut(socket);
  };
}

/** What the parser of Node is told about a request that it must not read the rest of: nothing behind it is a request either. */
const NO_MORE_REQUESTS = 2;

/**
 * Node goes on parsing what it has read of a destroyed socket, and makes an answer for each request in it: for 1,700 requests in one
 * read all other clients waited 100 ms. `parser` is not documented. Without it only this wait comes back.
 */
function cut(socket: Socket & { readonly parser?: { onIncoming: () => number } | null }): void {
  socket.destroy();
  if (socket.parser) socket.parser.onIncoming = () => NO_MORE_REQUESTS;
}
