import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type RequestListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

interface Turns {
  isBusy: boolean;
  /** Requests of this socket that Node has already parsed, in their order. */
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
}

/**
 * Max requests that a client may send ahead on one socket before it has read the answers. A socket with more of them is closed.
 * @internal
 */
export const MAX_REQUESTS_AHEAD = 64;
/** Max waiting requests that one step of the event loop begins, over all sockets. */
const BEGUN_AT_ONCE = 4;

/**
 * Serves one request of a socket at a time: the next one begins when the answer before it was handed to the operating system. Node would
 * begin all of them at once. An attacker who sends thousands of requests and reads nothing would then make this process hold thousands of
 * answers. Use it for `request`, `checkContinue` and `checkExpectation` of a server.
 */
export function serveInTurn(listener: RequestListener): RequestListener {
  const sockets = new WeakMap<Socket, Turns>();
  /** Sockets whose next request may begin; the one that has waited longest comes first. */
  const due: Turns[] = [];
  let isScheduled = false;

  function turnsOf(socket: Socket): Turns {
    const known = sockets.get(socket);
    if (known !== undefined) return known;
    const turns: Turns = { isBusy: false, waiting: [] };
    sockets.set(socket, turns);
    // Node never emits `close` for an answer that waits behind another one, so these requests are dropped when their socket closes.
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

  /**
   * Begins waiting requests, a few in each step of the event loop, however many sockets have waiting requests. So clients that send
   * requests ahead do not delay newly arriving requests.
   */
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
    // No request waits any more: the socket was closed in the meantime.
    if (next === undefined) turns.isBusy = false;
    else begin(turns, ...next);
  }

  return (incoming, outgoing) => {
    const { socket } = incoming;
    // Node still hands over requests that it read before the socket was closed. Their client can no longer get answers.
    if (socket.destroyed) return;
    const turns = turnsOf(socket);
    if (!turns.isBusy) return begin(turns, incoming, outgoing);
    if (turns.waiting.length < MAX_REQUESTS_AHEAD) return void turns.waiting.push([incoming, outgoing]);
    cut(socket);
  };
}

/** Return value that makes Node's parser skip the rest of a request; nothing after it is parsed as a request either. */
const NO_MORE_REQUESTS = 2;

/**
 * Closes a socket and stops its parser. Node continues to parse what it has read from a destroyed socket, and creates an answer for each
 * request in it: with 1,700 requests in one read, all other clients waited 100 ms. `parser` is not documented. In a Node without it, the
 * only effect is that delay.
 */
function cut(socket: Socket & { readonly parser?: { onIncoming: () => number } | null }): void {
  socket.destroy();
  if (socket.parser) socket.parser.onIncoming = () => NO_MORE_REQUESTS;
}
