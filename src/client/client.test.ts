import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { unknownActor } from '../domain/identity/actor.ts';
import type { CallEvent } from '../domain/call/call-event.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import type { CallId, RunId, SessionId } from '../domain/identity/ids.ts';
import type { SessionEnding } from '../domain/identity/session.ts';
import type { AcceptAnswer, AcceptRequest, TakenReply } from '../domain/ports/call-requests.ts';
import type { Store } from '../domain/ports/store.ts';
import { createEventBus } from '../observe/event-bus.ts';
import { callIdFor } from '../domain/identity/new-id.ts';
import { sha256 } from '../base/sha256.ts';
import { encodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import {
  deferred,
  partialStore,
  sampleCatalog,
  samplePublished,
  SAMPLE_SESSION,
} from '../../test/support/sample-call.ts';
import { createClient } from './client.ts';

const OK: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [] };
const SESSION = { id: SAMPLE_SESSION as SessionId, token: 'the token', run: 'run-1' as RunId };
const CALL = callIdFor(SESSION.id, 'k')!;
const ADMISSION = { liveCalls: 1, liveBytes: 1, retainedBytes: 1, subjectWindow: 1, subjectBacklog: 1 };

describe('client', () => {
  let clients: ReturnType<typeof createClient>[];
  beforeEach(() => {
    clients = [];
    vi.useFakeTimers();
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    vi.useRealTimers();
  });

  /** A client whose call is settled when the test says so. */
  function stage(methods: Partial<Store> = {}) {
    const accepted: AcceptRequest[] = [];
    const replies: TakenReply[] = [];
    let wake: (() => void) | undefined;
    const store = partialStore({
      lanes: 1,
      readCatalog: async () => sampleCatalog(1, samplePublished()),
      acceptCall: async (request) => {
        accepted.push(request);
        return { kind: 'accepted', callId: request.callId };
      },
      takeReplies: async ({ waitMs }) => {
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, waitMs);
        });
        return replies.splice(0);
      },
      readCall: async () => undefined,
      checkIncarnation: async () => undefined,
      close: async () => undefined,
      ...methods,
    });
    const client = createClient(store, {
      admission: ADMISSION,
      retentionMs: 60_000,
      events: createEventBus(),
      actor: unknownActor('client'),
    });
    clients.push(client);
    return {
      client,
      accepted,
      settle: async (): Promise<void> => {
        const { correlationId } = accepted[0]!.waiter!;
        replies.push({ replyId: '1-0', items: [{ kind: 'settled', correlationId, outcome: encodeOutcome(OK) }] });
        wake?.();
        await vi.advanceTimersByTimeAsync(0);
      },
    };
  }

  it('does not send a call whose signal was aborted before', async () => {
    const { client, accepted } = stage();
    const answer = await client.call(SESSION, 'notes.add', {}, { signal: AbortSignal.abort() });
    expect(answer).toMatchObject({ kind: 'refused', outcome: { kind: 'cancelled', executed: 'no' } });
    expect(accepted).toEqual([]);
  });

  it.each([Number.POSITIVE_INFINITY, 30 * 24 * 60 * 60 * 1000])(
    'waits for %d ms and not for a moment',
    async (waitMs) => {
      const { client, settle } = stage();
      const calling = client.call(SESSION, 'notes.add', {}, { waitMs });
      await vi.advanceTimersByTimeAsync(60_000);
      await settle();
      expect(await calling).toMatchObject({ kind: 'settled', outcome: OK });
    },
  );

  it('answers pending when its patience is over, and emits an event', async () => {
    const { client } = stage();
    const events: CallEvent[] = [];
    const calling = client.call(SESSION, 'notes.add', {}, { waitMs: 100, onEvent: (event) => events.push(event) });
    await vi.advanceTimersByTimeAsync(100);
    expect((await calling).kind).toBe('pending');
    expect(events.map(({ kind }) => kind)).toEqual(['queued', 'pending']);
  });

  it('an outcome that overtakes the answer to accept waits for the id the store gives', async () => {
    const asking = deferred<AcceptAnswer>();
    const events: CallEvent[] = [];
    const { client, settle, accepted } = stage({
      acceptCall: (request) => {
        accepted.push(request);
        return asking.promise;
      },
    });
    const calling = client.call(SESSION, 'notes.add', {}, { key: 'k', onEvent: (event) => events.push(event) });
    await vi.advanceTimersByTimeAsync(0);
    await settle();
    expect(events).toEqual([]);
    const callId = `${CALL}~2` as CallId;
    asking.resolve({ kind: 'accepted', callId });
    expect(await calling).toEqual({ kind: 'settled', callId, outcome: OK });
    expect(events.map(({ kind }) => kind)).toEqual(['queued', 'settled']);
  });

  it('a closed client ends the calls it waits for, those that are being accepted too', async () => {
    const asking = deferred<AcceptAnswer>();
    const answers = [Promise.resolve({ kind: 'accepted', callId: CALL } as const), asking.promise];
    const { client } = stage({ acceptCall: () => answers.shift()! });
    const calls = [client.call(SESSION, 'notes.add', {}), client.call(SESSION, 'notes.add', {})];
    const ended = Promise.allSettled(calls);
    await vi.advanceTimersByTimeAsync(0);
    await client.close();
    asking.resolve({ kind: 'accepted', callId: CALL });
    const closed = { status: 'rejected', reason: expect.objectContaining({ code: 'CLIENT_CLOSED' }) as unknown };
    expect(await ended).toEqual([closed, closed]);
    expect(vi.getTimerCount()).toBe(1);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('no lane');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no lane'))],
  ])('a store that %s at accept rejects the call, and no waiter is left', async (_how, acceptCall) => {
    const takeReplies = vi.fn<Store['takeReplies']>(async () => []);
    const { client } = stage({ acceptCall, takeReplies });
    await expect(client.call(SESSION, 'notes.add', {})).rejects.toThrow('no lane');
    await vi.advanceTimersByTimeAsync(20_000);
    expect(takeReplies.mock.calls.length).toBeLessThan(3);
  });

  it('an abort while the call is being accepted cancels it, and one after its end does not', async () => {
    const asking = deferred<AcceptAnswer>();
    const cancelCall = vi.fn<Store['cancelCall']>(async () => 'cancelled');
    const { client, settle, accepted } = stage({
      acceptCall: (request) => {
        accepted.push(request);
        return asking.promise;
      },
      cancelCall,
    });
    const [first, second] = [new AbortController(), new AbortController()];
    const calls = [
      client.call(SESSION, 'notes.add', {}, { signal: second.signal }),
      client.call(SESSION, 'notes.add', {}, { signal: first.signal }),
    ];
    void calls[1]!.catch(() => undefined);
    await vi.advanceTimersByTimeAsync(0);
    first.abort();
    expect(cancelCall).not.toHaveBeenCalled();
    asking.resolve({ kind: 'accepted', callId: CALL });
    await vi.advanceTimersByTimeAsync(0);
    expect(cancelCall).toHaveBeenCalledOnce();
    await settle();
    await calls[0];
    second.abort();
    expect(cancelCall).toHaveBeenCalledOnce();
  });

  it.each<[SessionEnding, string]>([
    ['unknown', 'the token is wrong'],
    ['revoked', 'it is revoked'],
    ['expired', 'it is expired'],
  ])('reads no result for a session that is %s', async (ending, problem) => {
    const proofs: unknown[] = [];
    const readCall = vi.fn<Store['readCall']>();
    const { client } = stage({
      proveSession: async (proof) => {
        proofs.push(proof);
        return ending;
      },
      readCall,
    });
    for (const asking of [client.result(SESSION, CALL), client.wait(SESSION, CALL)]) {
      await expect(asking).rejects.toMatchObject({ code: 'SESSION_INVALID' });
      await expect(asking).rejects.toThrow(problem);
    }
    expect(readCall).not.toHaveBeenCalled();
    const proof = { session: SESSION.id, tokenDigest: sha256('the token') };
    expect(proofs).toEqual([proof, proof]);
  });

  it('refuses an option of a run that it does not know', async () => {
    const { client } = stage();
    await expect(client.openRun({ ...SESSION, expiresAt: 1 }, { unatended: true } as object)).rejects.toMatchObject({
      code: 'SESSION_INVALID',
      facts: { problem: 'there is no option "unatended"; did you mean "unattended"?' },
    });
  });

  it('reads no result of another subject, for any caller', async () => {
    const readCall = vi.fn<Store['readCall']>();
    const { client } = stage({ proveSession: async () => undefined, readCall });
    const foreign = CALL.replace(/^(\d+)\.[^.]+/, '$1.AAAAAAAAAAAA');
    await expect(client.result(SESSION, foreign)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
    await expect(client.wait(SESSION, foreign)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
    expect(readCall).not.toHaveBeenCalled();
  });
});
