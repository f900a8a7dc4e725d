import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sampleDelivered, sampleDelivery } from '../../test/support/sample-call.ts';
import type { Delivery } from '../domain/ports/call-requests.ts';
import { createSlots } from './slots.ts';
import { createHoldWithoutSlot, MAX_HELD_WITHOUT_SLOT } from './hold-without-slot.ts';

describe('holdWithoutSlot', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function stage() {
    const [slots, nestedSlots] = [createSlots(0), createSlots(0)];
    const turns: string[] = [];
    const holdWithoutSlot = createHoldWithoutSlot({
      slots,
      nested: { pool: 'default~nested', slots: nestedSlots },
      limiter: {
        lend(tool) {
          turns.push(`lent ${tool}`);
          return () => void turns.push(`taken ${tool}`);
        },
      },
    });
    const aside = (waitMs: number, fields: Partial<Delivery> = {}, signal = new AbortController().signal) =>
      holdWithoutSlot(sampleDelivered(sampleDelivery(fields), { signal }), waitMs);
    return { slots, nestedSlots, turns, aside };
  }

  it('lends slot and turn while it waits, and takes both back', async () => {
    const { slots, nestedSlots, turns, aside } = stage();
    const standing = aside(100);
    expect([slots.free, nestedSlots.free, turns]).toEqual([1, 0, ['lent notes.add']]);
    await vi.advanceTimersByTimeAsync(100);
    await standing;
    expect([slots.free, turns]).toEqual([0, ['lent notes.add', 'taken notes.add']]);
  });

  it('of a nested call lends the slot that it came with', async () => {
    const { slots, nestedSlots, aside } = stage();
    const standing = aside(100, { pool: 'default~nested' });
    expect([slots.free, nestedSlots.free]).toEqual([0, 1]);
    await vi.advanceTimersByTimeAsync(100);
    await standing;
    expect(nestedSlots.free).toBe(0);
  });

  it('ends when the call is stopped, and does not begin when it was stopped before or there is nothing to wait for', async () => {
    const { slots, aside } = stage();
    const stopping = new AbortController();
    const standing = aside(60_000, {}, stopping.signal);
    stopping.abort('draining');
    await standing;
    await aside(60_000, {}, stopping.signal);
    await aside(0);
    expect([slots.free, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('lends only so many slots', async () => {
    const { slots, aside } = stage();
    const standing = Array.from({ length: MAX_HELD_WITHOUT_SLOT + 3 }, () => aside(100));
    expect(slots.free).toBe(MAX_HELD_WITHOUT_SLOT);
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all(standing);
    expect(slots.free).toBe(0);
  });
});
