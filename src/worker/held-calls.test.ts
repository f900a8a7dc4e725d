import { describe, expect, it } from 'vitest';
import type { CallId } from '../domain/identity/ids.ts';
import { sampleDelivery } from '../../test/support/sample-call.ts';
import { createHeldCalls, readHeldCalls } from './held-calls.ts';

const { workerId } = sampleDelivery();
const namesIn = (shared: SharedArrayBuffer): string[] =>
  readHeldCalls(shared, workerId).map(({ call }) => `${call.callId}/${call.fence}`);
const nameOf = ({ callId, fence }: { callId: string; fence: number }): string => `${callId}/${fence}`;

describe('held calls', () => {
  it('are read on the other side as they were written', () => {
    const held = createHeldCalls(4);
    const { callId, pool, entryId, fence } = sampleDelivery({ fence: 3 });
    held.hold({ callId, pool, workerId, entryId, fence }, 7);
    expect(readHeldCalls(held.shared, workerId)).toEqual([
      { lane: 7, call: { callId, pool, workerId, entryId, fence } },
    ]);
  });

  it('beyond the size of the table are refused, because their leases would not be renewed', () => {
    const held = createHeldCalls(2);
    held.hold(sampleDelivery(), 0);
    const slot = held.hold(sampleDelivery(), 0);
    expect(() => held.hold(sampleDelivery(), 0)).toThrow('more than 2 calls are held at once');
    expect(held.size).toBe(2);
    held.release(slot);
    expect(held.hold(sampleDelivery(), 0)).toBe(slot);
  });

  it('are gone when they are released, and their place serves the next', () => {
    const held = createHeldCalls(1);
    const [first, second] = [sampleDelivery(), sampleDelivery()];
    held.release(held.hold(first, 0));
    expect(namesIn(held.shared)).toEqual([]);
    held.hold(second, 0);
    expect(namesIn(held.shared)).toEqual([nameOf(second)]);
  });

  it('keep their names whole up to the longest there can be', () => {
    const held = createHeldCalls(1);
    const call = {
      callId: `9999.${'s'.repeat(12)}.${'k'.repeat(22)}~999999` as CallId,
      entryId: '18446744073709551615-18446744073709551615',
      pool: 'p'.repeat(64),
      workerId,
      fence: Number.MAX_SAFE_INTEGER,
    };
    held.hold(call, 9999);
    expect(readHeldCalls(held.shared, workerId)).toEqual([{ lane: 9999, call }]);
  });

  it('of two leases of one call are both renewed', () => {
    const held = createHeldCalls(4);
    const delivery = sampleDelivery();
    held.hold(delivery, 0);
    held.hold({ ...delivery, fence: 2 }, 0);
    expect(namesIn(held.shared).toSorted()).toEqual([nameOf(delivery), nameOf({ ...delivery, fence: 2 })]);
  });
});
