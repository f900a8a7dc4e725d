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
/** Of all sockets together. */
const BEGUN_AT_ONCE = 4;

/**
 * Serves one request of a socket at a time: the next one begins when the answer before it was handed to the operating system.
 * Node would begin all of them at once, and an attacker who sends thousands of requests and reads nothing would make this process
 * hold thousands of answers. For `request`, `checkContinue` and `checkExpectation` of a server.
 */
export function serveInTurn(listener: RequestListener): RequestListener {
  const sockets = new WeakMap<Socket, Turns>();
  /** Sockets whose next request has its turn, the one that waits longest first. */
  const due: Turns[] = [];
  let isScheduled = false;

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
      else {
        due.push(turns);
        scheduleDue();
      }
    });
    listener(incoming, outgoing);
  }

  /** What was sent ahead waits for what comes now: a step of the event loop begins few of these, however many sockets have some. */
  function beginDue(): void {
    isScheduled = false;
    const now = due.splice(0, BEGUN_AT_ONCE);
    scheduleDue();
    for (const turns of now) beginNext(turns);
  }

  function scheduleDue(): void {
    if (isScheduled || due.length === 0) return;
    isScheduled = true;
    setImmediate(beginDue);
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
