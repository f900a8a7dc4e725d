/** How a request is recognised: by text that it contains, or by a function of one chunk of bytes as the client sent it. */
type RequestMatch = string | ((chunk: Buffer) => boolean);

export type ChaosMode =
  | { readonly kind: 'pass' }
  /**
   * Forwards the `nth` matching request, drops the server's answer and then closes that connection: the command
   * took effect and the client cannot know. Returns to `pass` by itself, so a reconnect works. Pending replies to other
   * requests of that connection are lost with it. Send large requests (over 64 KB) alone: otherwise a reply to
   * an earlier one may end the connection before the whole request has arrived.
   */
  | { readonly kind: 'drop-reply'; readonly request: RequestMatch; readonly nth?: number }
  /** The counterpart: the `nth` matching request never arrives and the connection is closed. Returns to `pass` by itself. */
  | { readonly kind: 'drop-request'; readonly request: RequestMatch; readonly nth?: number }
  /**
   * Holds the `nth` matching request, and from then on all bytes in both directions: its sender can be killed at exactly this point.
   * Becomes `blackhole` by itself.
   */
  | { readonly kind: 'hold-request'; readonly request: RequestMatch; readonly nth?: number }
  /** No bytes in either direction. They are held, not lost, as TCP would do: the next mode delivers them. */
  | { readonly kind: 'blackhole' }
  /** New connections get ECONNREFUSED; open ones stay open. */
  | { readonly kind: 'refuse' }
  /** The delay in each direction, so a round trip takes twice as long. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  | { readonly kind: 'one-byte-chunks' };

export interface ChaosCounts {
  /** Connections accepted since the start. */
  connections: number;
  /** Requests that matched since the mode was set. */
  matchedRequests: number;
  droppedReplies: number;
  droppedRequests: number;
  heldRequests: number;
  /** Bytes from the server that no client received. */
  droppedReplyBytes: number;
}

/** The state that all connections of one proxy share: the mode, and the transfers that wait for the next one. */
export class ChaosControl {
  mode: ChaosMode = { kind: 'pass' };
  readonly counts: ChaosCounts = {
    connections: 0,
    matchedRequests: 0,
    droppedReplies: 0,
    droppedRequests: 0,
    heldRequests: 0,
    droppedReplyBytes: 0,
  };
  private waiting: (() => void)[] = [];

  change(mode: ChaosMode): void {
    this.mode = mode;
    this.counts.matchedRequests = 0;
    for (const wake of this.waiting.splice(0)) wake();
  }

  /** Resolves when bytes may move. */
  async passable(): Promise<void> {
    while (this.mode.kind === 'blackhole') await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Returns what to do if the mode's nth request is among the `found` ones. The mode then ends for all connections. */
  countRequests(found: number): 'drop-reply' | 'drop-request' | undefined {
    const { mode } = this;
    if (!seeksRequest(mode)) return undefined;
    this.counts.matchedRequests += found;
    if (found === 0 || this.counts.matchedRequests < (mode.nth ?? 1)) return undefined;
    if (mode.kind === 'hold-request') {
      this.counts.heldRequests += 1;
      this.mode = { kind: 'blackhole' };
      return undefined;
    }
    if (mode.kind === 'drop-request') this.counts.droppedRequests += 1;
    this.mode = { kind: 'pass' };
    return mode.kind;
  }
}

type SeekingMode = Extract<ChaosMode, { readonly request: RequestMatch }>;

function seeksRequest(mode: ChaosMode): mode is SeekingMode {
  return 'request' in mode;
}

/** Counts matches in one client's bytes, including text that is split over two chunks. */
export class RequestMatcher {
  private tail: Buffer = Buffer.alloc(0);
  private tailOf: ChaosMode | undefined;

  count(mode: ChaosMode, chunk: Buffer): number {
    if (!seeksRequest(mode)) return 0;
    if (typeof mode.request === 'function') return mode.request(chunk) ? 1 : 0;
    const wanted = Buffer.from(mode.request);
    const bytes = this.tailOf === mode ? Buffer.concat([this.tail, chunk]) : chunk;
    this.tailOf = mode;
    // Keeps one byte less than the text, so that a match that was counted cannot be found again.
    this.tail = bytes.subarray(Math.max(0, bytes.length - wanted.length + 1));
    let found = 0;
    for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + wanted.length)) found += 1;
    return found;
  }
}
