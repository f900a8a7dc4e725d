import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallRecord } from '../../domain/call/call.ts';
import type { CallerId, CallId } from '../../domain/identity/ids.ts';
import type { ReplyItem, TakeRepliesRequest, TakenReply } from '../../domain/ports/call-requests.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { createReplyReader, type ReplyReader } from './reply-reader.ts';

const CALLER = 'caller-1' as CallerId;
const CALL = 'call-1' as CallId;
const OUTCOME = new Uint8Array([1, 2, 3]);

describe('reply reader', () => {
  let readers: ReplyReader[];
  beforeEach(() => {
    readers = [];
    vi.useFakeTimers();
  });
  afterEach(() => {
    for (const reader of readers) reader.close();
    vi.useRealTimers();
  });

  /** A reader whose store gets its replies from the test. `taken` and `read` list its requests for replies and for call records. */
  function stage(next?: () => Promise<TakenReply[]>, checkIncarnation: () => Promise<void> = async () => undefined) {
    const pending: TakenReply[] = [];
    const taken: TakeRepliesRequest[] = [];
    const records = new Map<string, Uint8Array>();
    const read: string[] = [];
    let wake: (() => void) | undefined;
    const store = {
      checkIncarnation,
      takeReplies: async (request: TakeRepliesRequest): Promise<TakenReply[]> => {
        taken.push(request);
        if (next !== undefined) return next();
        if (pending.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
            setTimeout(resolve, request.waitMs);
          });
        }
        return pending.splice(0);
      },
      readCall: async (callId: CallId): Promise<CallRecord | undefined> => {
        read.push(callId);
        const outcome = records.get(callId);
        return outcome === undefined ? undefined : ({ callId, outcome } as CallRecord);
      },
    };
    const reader = createReplyReader(store, CALLER);
    readers.push(reader);
    let replies = 0;
    return {
      reader,
      records,
      read,
      taken,
      send: async (...items: ReplyItem[]): Promise<void> => {
        replies += 1;
        pending.push({ replyId: `${replies}-0`, items });
        wake?.();
        await vi.advanceTimersByTimeAsync(0);
      },
    };
  }

  it('a listener that throws costs no other caller a reply', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    const { reader, send, taken } = stage();
    const evil = reader.expect(0, () => {
      throw new Error('mine');
    });
    const neighbour = reader.expect(0);
    await send(
      { kind: 'event', correlationId: evil.correlationId, event: new Uint8Array() },
      { kind: 'settled', correlationId: neighbour.correlationId, outcome: OUTCOME },
      { kind: 'settled', correlationId: evil.correlationId, outcome: OUTCOME },
    );
    expect(await Promise.all([neighbour.outcome, evil.outcome])).toEqual([OUTCOME, OUTCOME]);
    expect(taken.at(-1)!.acknowledged).toEqual(['1-0']);
    expect(warned).toHaveBeenCalledOnce();
  });

  it('an outcome by reference that overtakes the answer to accept is fetched as soon as the call has an id', async () => {
    const { reader, records, read, send } = stage();
    records.set(CALL, OUTCOME);
    const expected = reader.expect(0);
    await send({ kind: 'settled-by-reference', correlationId: expected.correlationId });
    expect(read).toEqual([]);
    expected.accepted(CALL);
    expect(read).toEqual([CALL]);
    expect(await expected.outcome).toBe(OUTCOME);
  });

  it('a reply that got lost is found although replies to others never stop coming', async () => {
    let replies = 0;
    const { reader, records } = stage(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      replies += 1;
      return [{ replyId: `${replies}-0`, items: [{ kind: 'settled', correlationId: 'other', outcome: OUTCOME }] }];
    });
    const expected = reader.expect(0);
    expected.accepted(CALL);
    let found: Uint8Array | undefined;
    void expected.outcome.then((outcome) => (found = outcome));
    records.set(CALL, OUTCOME);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(found).toBe(OUTCOME);
  });

  it('a reply that got lost is found when nothing comes at all', async () => {
    const { reader, records } = stage();
    const expected = reader.expect(0);
    expected.accepted(CALL);
    records.set(CALL, OUTCOME);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await expected.outcome).toBe(OUTCOME);
  });

  it('goes on after an error of the store, and gives up when the store was replaced', async () => {
    let failures = 3;
    const { reader, records } = stage(() => {
      failures -= 1;
      const lost = failures >= 0;
      return Promise.reject(
        lost
          ? planeError('STORE_UNAVAILABLE', { problem: 'gone' })
          : planeError('STORE_REPLACED', { expected: 'a', found: 'b' }),
      );
    });
    const expected = reader.expect(0);
    await vi.advanceTimersByTimeAsync(5000);
    await expect(expected.outcome).rejects.toMatchObject({ code: 'STORE_REPLACED' });
    expect(failures).toBe(-1);
    expect(records.size).toBe(0);
  });

  it('a call that has no record in a store that was replaced rejects its waiters, with and without an id', async () => {
    const replaced = planeError('STORE_REPLACED', { expected: 'a', found: 'b' });
    const { reader } = stage(undefined, () => Promise.reject(replaced));
    const [accepted, asking] = [reader.expect(0), reader.expect(0)];
    accepted.accepted(CALL);
    await vi.advanceTimersByTimeAsync(20_000);
    await expect(accepted.outcome).rejects.toBe(replaced);
    await expect(asking.outcome).rejects.toBe(replaced);
  });

  it('a waiter that was forgotten gets nothing, and reading ends without waiters', async () => {
    const { reader, read, taken } = stage();
    const expected = reader.expect(0);
    expected.accepted(CALL);
    expected.forget();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(read).toEqual([]);
    expect(taken).toHaveLength(1);
  });

  it('a closed reader rejects who waits and who comes', async () => {
    const { reader } = stage();
    const before = reader.expect(0);
    reader.close();
    const after = reader.expect(0);
    await expect(before.outcome).rejects.toMatchObject({ code: 'CLIENT_CLOSED' });
    await expect(after.outcome).rejects.toMatchObject({ code: 'CLIENT_CLOSED' });
  });
});
