import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { planeError } from '../../domain/errors/errors.ts';
import { PendingRequests } from './pending-requests.ts';

const PATIENCE_MS = 1_000;
const ANSWER_WITHIN_MS = 30_000;
const AWAY = planeError('STORE_UNAVAILABLE', { problem: 'gone' });

describe('pending requests', () => {
  let pending: PendingRequests;
  let endings: string[];
  beforeEach(() => {
    vi.useFakeTimers();
    pending = new PendingRequests({ patienceMs: PATIENCE_MS, answerWithinMs: ANSWER_WITHIN_MS });
    endings = [];
  });
  afterEach(() => void vi.useRealTimers());

  function add(argument?: unknown): number {
    return pending.add('takeReplies', argument, {
      resolve: (value) => void endings.push(`answered ${String(value)}`),
      reject: (error) => void endings.push(error.message),
    });
  }

  const loseLink = (): void => pending.wait(pending.ids(), AWAY);

  it('are sent again in the order in which they were made', () => {
    const [first, second] = [add({ n: 1 }), add({ n: 2 })];
    for (const id of [second, first]) pending.send(id);
    loseLink();
    expect(pending.ids().map((id) => pending.send(id)?.[2])).toEqual([{ n: 1 }, { n: 2 }]);
  });

  it('wait, when sent again, for what is left of their time and never less than nothing', () => {
    const id = add({ waitMs: 300 });
    expect(pending.send(id)?.[2]).toEqual({ waitMs: 300 });
    loseLink();
    vi.advanceTimersByTime(100);
    expect(pending.send(id)?.[2]).toEqual({ waitMs: 200 });
    loseLink();
    vi.advanceTimersByTime(500);
    expect(pending.send(id)?.[2]).toEqual({ waitMs: 0 });
  });

  it('are refused when the store is away for longer than their patience', () => {
    pending.send(add());
    loseLink();
    vi.advanceTimersByTime(PATIENCE_MS - 1);
    pending.refuseOverdue(AWAY);
    expect(endings).toEqual([]);
    vi.advanceTimersByTime(1);
    pending.refuseOverdue(AWAY);
    expect(endings).toEqual([AWAY.message]);
    expect(pending.size).toBe(0);
  });

  it('keep their patience from one loss to the next, so that one that kills its owner is not sent for ever', () => {
    const id = add();
    for (const passedMs of [0, PATIENCE_MS / 2, PATIENCE_MS / 2]) {
      pending.send(id);
      vi.advanceTimersByTime(passedMs);
      loseLink();
    }
    expect(endings).toEqual([AWAY.message]);
  });

  it('are not refused while an owner has them, until it has been silent for 30 s beyond the wait they asked for', () => {
    const id = add({ waitMs: 5_000 });
    loseLink();
    pending.send(id);
    vi.advanceTimersByTime(34_999);
    pending.refuseOverdue(AWAY);
    expect(endings).toEqual([]);
    vi.advanceTimersByTime(1);
    pending.refuseOverdue(AWAY);
    expect(endings).toEqual([expect.stringContaining('30000 ms')]);
  });

  it('are answered once', () => {
    const id = add();
    pending.resolve(id, 1);
    pending.resolve(id, 2);
    pending.reject(id, AWAY);
    expect(endings).toEqual(['answered 1']);
    expect(pending.send(id)).toBeUndefined();
  });
});
