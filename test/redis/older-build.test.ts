import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseScopedId, type CallId, type RunId } from '../../src/domain/identity/ids.ts';
import { MAX_RUNS } from '../../src/domain/identity/session.ts';
import type { Delivery } from '../../src/domain/ports/call-requests.ts';
import type { HoldOwedRequest } from '../../src/domain/ports/owed-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { openConnection, sendCommand, untilReady, type Connection } from '../../src/stores/redis/connection.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { callIdFor, randomId } from '../../src/domain/identity/new-id.ts';
import { acceptRequest, holdOne, HOUR_MS, openSession } from '../contract/fixtures.ts';
import { storeTimeAfter } from '../contract/observe.ts';
import { startRedis, type RedisServer } from '../support/redis-server.ts';

/** How a process of revision 4 calls the functions. It goes on calling the newer ones after `sallyport store upgrade`. */
const RECORDED = new URL('../fixtures/libraries/sallyport_1.revision-4.json', import.meta.url);
const CALLS = (JSON.parse(readFileSync(RECORDED, 'utf8')) as { functions: Record<string, string> }).functions;

let server: RedisServer;
let store: Store;
let connection: Connection;
let name: string;
let incarnation: string;
beforeAll(async () => {
  server = await startRedis();
  connection = openConnection({ url: server.url, commandTimeoutMs: 10_000 }, 'commands');
  await untilReady(connection, 10_000);
});
beforeEach(async () => {
  name = `older-${randomId()}`;
  store = await openRedisStore({ url: server.url, name, lanes: 1 });
  incarnation = await server.cli('HGET', `{${name}}:incarnation`, 'id');
});
afterEach(() => store.close());
afterAll(async () => {
  connection.disconnect();
  await server.stop();
});

/** Calls a function with its arguments in the order that revision 4 recorded; `values` has those that differ between functions. */
async function callAsOlder(called: string, values: Readonly<Record<string, string>>): Promise<unknown> {
  const [keys, args, each] = CALLS[called]!.split(' | ').map((names) => names.split(', ').filter(Boolean));
  const known: Readonly<Record<string, string>> = { incarnation, lane: `{${name}:0}:`, max: '1000', ...values };
  const inOrder = [...args!, ...each!].map((argument) => known[argument]!);
  const named = keys!.map((key) => `{${name}:0}:${key}`);
  return sendCommand(connection, 'FCALL', [`sp1_${called}`, String(named.length), ...named, ...inOrder]);
}

describe('a process of the build before', () => {
  it('opens runs, also more than a later build opens', async () => {
    const session = await openSession(store);
    const open = (run: string): Promise<unknown> =>
      callAsOlder('change_session', { session: session.id, change: 'open-run', run, detail: '' });
    for (let run = 0; run <= MAX_RUNS; run += 1) expect(await open(`run-${run}`)).toBe('CHANGED');
    expect(await store.openRun({ session: session.id, run: 'one-more' as RunId })).toBe('full');
  });

  it('settles with all that it knows about a call behind the fence', async () => {
    const session = await openSession(store);
    const settleAsOlder = (delivery: Delivery, fence: string): Promise<unknown> => {
      const { callId, entryId: entry, workerId: worker, pool } = delivery;
      const settlement = { retentionMs: String(HOUR_MS), outcome: 'bytes', detail: 'detail' };
      return callAsOlder('settle_calls', {
        callId,
        entry,
        worker,
        pool,
        first: entry,
        last: entry,
        fence,
        ...settlement,
      });
    };
    const first = await holdOne(store, session);
    const about = `${session.id}/${session.run} 25`;
    expect(await settleAsOlder(first, `${first.fence + 1}! fresult-- ${about}  stalled1`)).toBe('FENCED');
    expect(await settleAsOlder(first, `${first.fence}! fresult-- ${about}  stalled1`)).toBe('SETTLED');
    // The key was released, so the same request is a new call. Its delivery has the cost, the stall and the result of the call before.
    const second = await holdOne(store, session, { callId: first.callId });
    expect(second.runState).toMatchObject({ cost: 25, stalls: [{ signature: 'stalled1', count: 1 }] });
    expect(Buffer.from(second.history!).toString('latin1')).toContain('fresult--');
    expect(await settleAsOlder(second, `${second.fence} eresult-- ${about} ${HOUR_MS}`)).toBe('SETTLED');
    const refused = await store.acceptCall(acceptRequest(session));
    expect(refused).toMatchObject({ kind: 'run-ended' });
    expect(refused).toHaveProperty('restMs', expect.closeTo(HOUR_MS, -5));
  });

  describe('holds the calls owed', () => {
    let session: Awaited<ReturnType<typeof openSession>>;
    beforeEach(async () => void (session = await openSession(store)));
    const digest = sha256('digest');
    const newCall = (): CallId => callIdFor(session.id, randomId())!;
    const holdAsOlder = (callId: CallId, more: Record<string, string> = {}): Promise<unknown> => {
      const { scope, rest } = parseScopedId(callId)!;
      const entry = { scope, name: rest, digest, holder: 'older', leaseMs: '3000', lifetimeMs: String(HOUR_MS) };
      return callAsOlder('hold_owed', { ...entry, of: '', fresh: '0', since: '', ...more });
    };
    const releaseAsOlder = (callId: CallId, attempt: CallId): Promise<unknown> => {
      const { scope, rest } = parseScopedId(callId)!;
      const of = { scope, name: rest, attempt: parseScopedId(attempt)!.rest };
      return callAsOlder('release_owed', { ...of, to: 'owed', owedAfterMs: '0', lifetimeMs: '0' });
    };
    const request = (more: Partial<HoldOwedRequest> = {}): HoldOwedRequest => ({
      callId: newCall(),
      digest,
      holder: 'newer',
      lifetimeMs: HOUR_MS,
      leaseMs: 3000,
      ...more,
    });

    it('for its own requests, and beats', async () => {
      const [first, again] = [newCall(), newCall()];
      expect(await holdAsOlder(first)).toEqual([['MADE']]);
      expect(await callAsOlder('beat_owed', { holder: 'older' })).toBe('BEATEN');
      expect(await releaseAsOlder(first, first)).toEqual(['RELEASED']);
      // A process of revision 4 reads four fields: the last one is the expiry.
      const taken = [
        ['TAKEN', parseScopedId(first)!.rest, expect.stringMatching(/^\d+$/), expect.stringMatching(/^\d+$/)],
      ];
      expect(await holdAsOlder(again)).toEqual(taken);
    });

    it('and what it lets go of without a lifetime is owed as long as it was before', async () => {
      const first = newCall();
      await holdAsOlder(first);
      await releaseAsOlder(first, first);
      await storeTimeAfter(store, (await store.now()) + 20);
      expect(await store.holdOwed(request())).toMatchObject({ kind: 'taken', callId: first });
    });

    it('that a later build lets go of', async () => {
      const made = request();
      await store.holdOwed(made);
      await store.releaseOwed({ callId: made.callId, attempt: made.callId, to: 'owed', lifetimeMs: HOUR_MS });
      expect(await holdAsOlder(newCall())).toMatchObject([{ 0: 'TAKEN', 1: parseScopedId(made.callId)!.rest }]);
    });
  });
});
