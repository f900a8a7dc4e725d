/** What a request is recognised by: text it contains, or a test of one chunk of bytes as it came from the client. */
type RequestMatch = string | ((chunk: Buffer) => boolean);

export type ChaosMode =
  | { readonly kind: 'pass' }
  /**
   * Lets the `nth` matching request through, keeps the server's answer back and then cuts that connection: the command
   * took effect and the client cannot know. Goes back to `pass` by itself, so a reconnect works. Replies to other
   * requests of that connection that are under way are lost with it. Send large requests (over 64 KB) alone: a reply to
   * an earlier one may otherwise end the connection before the whole of it has arrived.
   */
  | { readonly kind: 'drop-reply'; readonly request: RequestMatch; readonly nth?: number }
  /** The twin: the `nth` matching request never arrives and the connection is cut. Goes back to `pass` by itself. */
  | { readonly kind: 'drop-request'; readonly request: RequestMatch; readonly nth?: number }
  /**
   * Holds the `nth` matching request, and from then on all bytes either way: its sender can be killed at exactly this point. Becomes
   * `blackhole` by itself.
   */
  | { readonly kind: 'hold-request'; readonly request: RequestMatch; readonly nth?: number }
  /** No bytes either way. They are held, not lost, as TCP would: the next mode delivers them. */
  | { readonly kind: 'blackhole' }
  /** New connections get ECONNREFUSED; open ones live on. */
  | { readonly kind: 'refuse' }
  /** Each way, so a round trip takes twice as long. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  | { readonly kind: 'one-byte-chunks' };

export interface ChaosCounts {
  /** Connections taken since the start. */
  connections: number;
  /** Requests that matched since the mode was set. */
  matchedRequests: number;
  droppedReplies: number;
  droppedRequests: number;
  heldRequests: number;
  /** Bytes of the server that no client got to see. */
  droppedReplyBytes: number;
}

/** What all connections of one proxy share: the mode, and who waits for the next one. */
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

  /** Says what to do when the mode's nth request is among the `found` ones; the mode is then over for everybody else. */
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

/** Counts matches in one client's bytes, also of text that arrives split over two chunks. */
export class RequestMatcher {
  private tail: Buffer = Buffer.alloc(0);
  private tailOf: ChaosMode | undefined;

  count(mode: ChaosMode, chunk: Buffer): number {
    if (!seeksRequest(mode)) return 0;
    if (typeof mode.request === 'function') return mode.request(chunk) ? 1 : 0;
    const wanted = Buffer.from(mode.request);
    const bytes = this.tailOf === mode ? Buffer.concat([this.tail, chunk]) : chunk;
    this.tailOf = mode;
    // One byte less than the text, so what was counted once cannot be found again.
    this.tail = bytes.subarray(Math.max(0, bytes.length - wanted.length + 1));
    let found = 0;
    for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + wanted.length)) found += 1;
    return found;
  }
}
