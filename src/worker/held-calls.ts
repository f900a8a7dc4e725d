import { planeError } from '../domain/errors/errors.ts';
import type { CallId, WorkerId } from '../domain/identity/ids.ts';
import type { OwnedCall } from '../domain/ports/call-requests.ts';

/**
 * The calls that a worker holds, in memory shared between its main thread and its supervisor thread. The supervisor renews leases from this
 * table. So a tool that blocks the main thread does not cost other calls their leases, and no message per call is needed.
 *
 * One slot: [sequence int32][lane int32][fence float64][length int32][text: callId \n entryId \n pool]. An odd sequence means "held". A
 * reader that finds the sequence changed after copying has read a slot during a change, and skips it until the next round.
 */
const SLOT_BYTES = 256;
const TEXT_AT = 20;
const TEXT_BYTES = SLOT_BYTES - TEXT_AT;

export interface HeldCalls {
  readonly shared: SharedArrayBuffer;
  /** Returns the slot to release. */
  hold(call: OwnedCall, lane: number): number;
  release(slot: number): void;
  readonly size: number;
}

export function createHeldCalls(slots: number): HeldCalls {
  const shared = new SharedArrayBuffer(slots * SLOT_BYTES);
  const view = slotView(shared);
  const free = Array.from({ length: slots }, (_, index) => slots - 1 - index);
  return {
    shared,
    hold(call, lane) {
      const slot = free.pop();
      // A call that is not in the table would silently lose its lease, so it is not begun.
      if (slot === undefined) throw planeError('INTERNAL', { problem: `more than ${slots} calls are held at once` });
      view.write(slot, call, lane);
      return slot;
    },
    release(slot) {
      view.clear(slot);
      free.push(slot);
    },
    get size() {
      return slots - free.length;
    },
  };
}

export interface HeldCall {
  readonly lane: number;
  readonly call: OwnedCall;
}

/** For the supervisor: the calls held currently. */
export function readHeldCalls(shared: SharedArrayBuffer, workerId: WorkerId): HeldCall[] {
  const view = slotView(shared);
  const held: HeldCall[] = [];
  for (let slot = 0; slot < shared.byteLength / SLOT_BYTES; slot += 1) {
    const found = view.read(slot, workerId);
    if (found !== undefined) held.push(found);
  }
  return held;
}

function slotView(shared: SharedArrayBuffer) {
  const words = new Int32Array(shared);
  const bytes = Buffer.from(shared);
  const wordOf = (slot: number): number => (slot * SLOT_BYTES) / 4;
  return {
    write(slot: number, call: OwnedCall, lane: number): void {
      const at = slot * SLOT_BYTES;
      words[wordOf(slot) + 1] = lane;
      bytes.writeDoubleLE(call.fence, at + 8);
      const length = bytes.write(`${call.callId}\n${call.entryId}\n${call.pool}`, at + TEXT_AT, TEXT_BYTES, 'latin1');
      words[wordOf(slot) + 4] = length;
      Atomics.add(words, wordOf(slot), 1);
    },
    clear(slot: number): void {
      Atomics.add(words, wordOf(slot), 1);
    },
    read(slot: number, workerId: WorkerId): HeldCall | undefined {
      const sequence = Atomics.load(words, wordOf(slot));
      if (sequence % 2 === 0) return undefined;
      const at = slot * SLOT_BYTES;
      const lane = words[wordOf(slot) + 1]!;
      const fence = bytes.readDoubleLE(at + 8);
      const text = bytes.toString('latin1', at + TEXT_AT, at + TEXT_AT + words[wordOf(slot) + 4]!);
      if (Atomics.load(words, wordOf(slot)) !== sequence) return undefined;
      const [callId, entryId, pool] = text.split('\n') as [CallId, string, string];
      return { lane, call: { callId, entryId, pool, workerId, fence } };
    },
  };
}
