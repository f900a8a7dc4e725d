import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { RequestMatcher, type ChaosControl } from './chaos-mode.ts';

export interface ChaosLink {
  readonly closed: Promise<void>;
  /** Closes both sides at once; bytes in transit are lost. */
  cut(): void;
}

/** Connects one client of the proxy with a separate connection to the server. */
export function openLink(
  client: Socket,
  target: { host: string; port: number } | { path: string },
  control: ChaosControl,
): ChaosLink {
  const server = connect({ ...target, allowHalfOpen: true });
  const matcher = new RequestMatcher();
  let keepsRepliesBack = false;
  let droppedReplyBytes = 0;

  const cut = (): void => {
    client.destroy();
    server.destroy();
  };
  for (const socket of [client, server]) {
    socket.setNoDelay(true);
    // Ignored, because the close that follows is enough: the other side sees its connection end.
    socket.on('error', () => {});
    // After an orderly end the relay still has to deliver what it holds; it then ends the other side itself.
    socket.once('close', () => {
      if (keepsRepliesBack || !socket.readableEnded) cut();
    });
  }

  relay(client, server, control, (chunk) => {
    const action = control.countRequests(matcher.count(control.mode, chunk));
    if (action === 'drop-request') {
      cut();
      return 'drop';
    }
    if (action === 'drop-reply') keepsRepliesBack = true;
    return 'forward';
  });
  relay(server, client, control, (chunk) => {
    if (!keepsRepliesBack) return 'forward';
    if (droppedReplyBytes === 0) {
      control.counts.droppedReplies += 1;
      // `end` and not a cut: the server then reads everything that was sent before it closes. The client notices the loss (by the
      // 'close' above) only when every command has taken effect, including those of one pipeline.
      server.end();
    }
    droppedReplyBytes += chunk.length;
    control.counts.droppedReplyBytes += chunk.length;
    return 'drop';
  });
  return { closed: new Promise((resolve) => client.once('close', () => resolve())), cut };
}

const HOLD_AT_MOST_BYTES = 1 << 20;

/** Forwards bytes from one socket to another in order, at the pace of the mode that applies when they leave. */
function relay(from: Socket, to: Socket, control: ChaosControl, decide: (chunk: Buffer) => 'forward' | 'drop'): void {
  const held: { chunk: Buffer; arrivedAt: number }[] = [];
  let heldBytes = 0;
  let busy = false;
  let ended = false;

  const carry = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    for (let next = held.shift(); next !== undefined; next = held.shift()) {
      const { chunk, arrivedAt } = next;
      await control.passable();
      const { mode } = control;
      // One millisecond more, because timers may fire up to a millisecond early.
      if (mode.kind === 'delay') await pause(Math.max(0, arrivedAt + mode.delayMs - performance.now() + 1));
      const isForwarded = decide(chunk) === 'forward';
      // This chunk may have switched the proxy to `blackhole`.
      await control.passable();
      if (isForwarded) await write(to, chunk, mode.kind === 'one-byte-chunks');
      heldBytes -= chunk.length;
      if (heldBytes < HOLD_AT_MOST_BYTES) from.resume();
    }
    await control.passable();
    busy = false;
    if (held.length > 0) void carry();
    else if (ended) to.end();
  };

  from.on('data', (chunk: Buffer) => {
    held.push({ chunk, arrivedAt: performance.now() });
    heldBytes += chunk.length;
    if (heldBytes >= HOLD_AT_MOST_BYTES) from.pause();
    void carry();
  });
  from.once('end', () => {
    ended = true;
    void carry();
  });
}

async function write(to: Socket, chunk: Buffer, byteByByte: boolean): Promise<void> {
  if (!byteByByte) {
    if (to.writable) to.write(chunk);
    return;
  }
  for (let at = 0; at < chunk.length && to.writable; at += 1) {
    to.write(chunk.subarray(at, at + 1));
    // Lets the byte leave before the next one is written, so that the reader gets it alone.
    await nextTurn();
  }
}
