import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CallEvent } from '../domain/call-event.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { RunId, SessionId } from '../domain/ids.ts';
import type { SessionEnding } from '../domain/session.ts';
import type { AcceptRequest, TakenReply } from '../ports/call-store.ts';
import type { Store } from '../ports/store.ts';
import { callIdFor } from '../wire/ids.ts';
import { sha256 } from '../wire/digest.ts';
import { encodeOutcome } from '../wire/outcome.ts';
import { partialStore, sampleCatalog, samplePublished, SAMPLE_SESSION } from '../../test/support/sample-call.ts';
import { createClient, type Client } from './client.ts';

const OK: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [] };
const SESSION = { id: SAMPLE_SESSION as SessionId, token: 'the token', run: 'run-1' as RunId };
const CALL = callIdFor(SESSION.id, 'k')!;
const ADMISSION = { liveCalls: 1, liveBytes: 1, retainedBytes: 1, subjectWindow: 1, subjectBacklog: 1 };

describe('client', () => {
  let clients: Client[];
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
    const client = createClient(store, { admission: ADMISSION, retentionMs: 60_000 });
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

  it('answers pending when its patience is over, and tells of it', async () => {
    const { client } = stage();
    const events: CallEvent[] = [];
    const calling = client.call(SESSION, 'notes.add', {}, { waitMs: 100, onEvent: (event) => events.push(event) });
    await vi.advanceTimersByTimeAsync(100);
    expect((await calling).kind).toBe('pending');
    expect(events.map(({ kind }) => kind)).toEqual(['queued', 'pending']);
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

  it('reads no result of another subject, whoever asks', async () => {
    const { client } = stage({ proveSession: async () => undefined });
    const foreign = CALL.replace(/^(\d+)\.[^.]+/, '$1.AAAAAAAAAAAA');
    await expect(client.result(SESSION, foreign)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
    await expect(client.wait(SESSION, foreign)).rejects.toMatchObject({ code: 'CALL_UNKNOWN' });
  });
});
