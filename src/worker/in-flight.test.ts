import { afterEach, describe, expect, it, vi } from 'vitest';
import { sampleDelivery } from '../../test/support/sample-call.ts';
import { createHeldCalls, readHeldCalls } from './held-calls.ts';
import { createInFlight } from './in-flight.ts';

describe('calls in flight', () => {
  afterEach(() => void vi.useRealTimers());

  it('a worker that gets its own call again stops the old run and not the new one', () => {
    const inFlight = createInFlight(createHeldCalls(4));
    const delivery = sampleDelivery({ fence: 1 });
    const old = inFlight.begin(delivery);
    const again = inFlight.begin({ ...delivery, fence: 2 });
    expect(old.signal.reason).toBe('lost');
    expect(again.signal.aborted).toBe(false);
  });

  it('an order to stop a lost lease does not reach the next lease of the same call', () => {
    const inFlight = createInFlight(createHeldCalls(4));
    const delivery = sampleDelivery({ fence: 1 });
    inFlight.begin(delivery);
    const again = inFlight.begin({ ...delivery, fence: 2 });
    inFlight.stop({ ...delivery, fence: 1 }, 'lost');
    expect(again.signal.aborted).toBe(false);
    inFlight.stop({ ...delivery, fence: 2 }, 'cancelled');
    expect(again.signal.reason).toBe('cancelled');
  });

  it('an order to stop a copy of an entry does not reach the call itself', () => {
    const inFlight = createInFlight(createHeldCalls(4));
    const delivery = sampleDelivery({ fence: 1, entryId: '1-1' });
    const call = inFlight.begin(delivery);
    const copy = inFlight.begin({ ...delivery, entryId: '2-1' });
    inFlight.stop({ ...delivery, entryId: '2-1' }, 'lost');
    expect(copy.signal.reason).toBe('lost');
    expect(call.signal.aborted).toBe(false);
  });

  it('the end of the old run leaves the new one held and in reach', () => {
    const held = createHeldCalls(4);
    const inFlight = createInFlight(held);
    const delivery = sampleDelivery({ fence: 1 });
    const old = inFlight.begin(delivery);
    const again = inFlight.begin({ ...delivery, fence: 2 });
    old.end();
    expect(readHeldCalls(held.shared, delivery.workerId).map(({ call }) => call.fence)).toEqual([2]);
    expect(inFlight.size).toBe(1);
    inFlight.stopAll('draining');
    expect(again.signal.reason).toBe('draining');
  });

  it('a signal that was used is not given to another call', () => {
    const inFlight = createInFlight(createHeldCalls(4));
    const first = inFlight.begin(sampleDelivery());
    inFlight.stopAll('draining');
    first.end();
    expect(inFlight.begin(sampleDelivery()).signal.aborted).toBe(false);
  });

  it('reports a stop once, to the listeners at that time, and not to those that left', () => {
    const inFlight = createInFlight(createHeldCalls(4));
    const { signal } = inFlight.begin(sampleDelivery());
    const told: string[] = [];
    const left = (): void => void told.push('left');
    signal.addEventListener('abort', () => told.push('first'), { once: true });
    signal.addEventListener('abort', left, { once: true });
    signal.addEventListener('abort', () => told.push('second'), { once: true });
    signal.removeEventListener('abort', left);
    inFlight.stopAll('draining');
    inFlight.stopAll('lost');
    signal.addEventListener('abort', () => told.push('late'), { once: true });
    expect(told).toEqual(['first', 'second']);
    expect(signal.reason).toBe('draining');
  });

  it('a call that the table has no room for is not begun', () => {
    const inFlight = createInFlight(createHeldCalls(1));
    inFlight.begin(sampleDelivery());
    expect(() => inFlight.begin(sampleDelivery())).toThrow('more than 1 calls');
    expect(inFlight.size).toBe(1);
  });

  it('is idle when the last call ends, and not before', async () => {
    const inFlight = createInFlight(createHeldCalls(4));
    expect(await inFlight.idle(0)).toBe(true);
    const [first, second] = [inFlight.begin(sampleDelivery()), inFlight.begin(sampleDelivery())];
    let idle = false;
    const waiting = inFlight.idle(60_000).then((answer) => (idle = answer));
    first.end();
    await Promise.resolve();
    expect(idle).toBe(false);
    second.end();
    expect(await waiting).toBe(true);
  });

  it('says that it is not idle when the time is up', async () => {
    vi.useFakeTimers();
    const inFlight = createInFlight(createHeldCalls(4));
    inFlight.begin(sampleDelivery());
    const waiting = inFlight.idle(100);
    await vi.advanceTimersByTimeAsync(100);
    expect(await waiting).toBe(false);
  });
});
