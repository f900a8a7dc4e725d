import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../src/exports/client.ts';
import { indexTools } from '../../src/domain/tool/catalog.ts';
import type { CallId, RunId, ToolId, WorkerId } from '../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { AcceptRequest } from '../../src/domain/ports/call-requests.ts';
import { DEFAULT_ADMISSION } from '../../src/operate/defaults.ts';
import { prepareCall } from '../../src/stages/accept/prepare-call.ts';
import { laneKeys } from '../../src/stores/redis/keys.ts';
import { bodyDigest } from '../../src/domain/tool/digest.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { decode, encode } from '../../src/base/message-pack.ts';
import { callIdFor, newToken, randomId } from '../../src/domain/identity/new-id.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import {
  audit,
  callFor,
  endingsOf,
  holdRun,
  marksOf,
  queueCounts,
  releaseRuns,
  runOnce,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

/** Everything a refused request could have left behind. */
async function stateOf(plane: StagedPlane) {
  return {
    keys: await plane.redis?.cli('DBSIZE'),
    calls: await plane.store.listCalls({ limit: 1000 }),
    audit: (await audit(plane)).length,
    queue: await queueCounts(plane),
    effects: plane.effects(),
  };
}

/** What the client library would send; a test changes a part of it. */
async function honestRequest(
  plane: StagedPlane,
  session: SessionHandle,
  tool: string,
  args: JsonObject,
  key = randomId(),
) {
  const published = indexTools(await plane.store.readCatalog()).get(tool as ToolId)!;
  const prepared = prepareCall({
    session: session.id,
    run: session.run,
    proof: { kind: 'token', tokenDigest: sha256(session.token) },
    tool: published,
    arguments: args,
    key,
    depth: 0,
    admission: DEFAULT_ADMISSION,
  });
  if (prepared.kind !== 'prepared') throw new Error('not prepared');
  return prepared.request;
}

describe.each(BACKENDS)('a forged request on %s', (backend) => {
  let plane: StagedPlane;
  let alice: SessionHandle;
  let mallory: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    alice = await plane.openSession('alice');
    mallory = await plane.openSession('mallory');
    await plane.startWorker();
    await plane.client.catalog();
  });
  afterEach(releaseRuns);
  afterAll(() => plane.stop());

  const SESSIONS: Record<string, { code: string; forge: () => Promise<SessionHandle> }> = {
    'a wrong token': { code: 'SESSION_UNKNOWN', forge: async () => ({ ...alice, token: newToken() }) },
    'an empty token': { code: 'SESSION_UNKNOWN', forge: async () => ({ ...alice, token: '' }) },
    "another session's token": { code: 'SESSION_UNKNOWN', forge: async () => ({ ...alice, token: mallory.token }) },
    'the stored digest for a token': {
      code: 'SESSION_UNKNOWN',
      forge: async () => ({ ...alice, token: sha256(alice.token) }),
    },
    'a session that never was': {
      code: 'SESSION_UNKNOWN',
      forge: async () => ({ ...alice, id: alice.id.replace(/[^.]+$/, randomId()) as SessionHandle['id'] }),
    },
    'a run of somebody else': { code: 'RUN_UNKNOWN', forge: async () => ({ ...alice, run: mallory.run }) },
    'a run that never was': { code: 'RUN_UNKNOWN', forge: async () => ({ ...alice, run: randomId() as RunId }) },
    'a revoked session': {
      code: 'SESSION_REVOKED',
      forge: async () => {
        const session = await plane.openSession('alice');
        await plane.client.revokeSession(session.id);
        return session;
      },
    },
    'an expired session': {
      code: 'SESSION_EXPIRED',
      forge: async () => {
        const session = await plane.client.openSession({ subject: 'alice', agent: 'main', lifetimeMs: 30 });
        await untilStoreTime(plane, 50);
        return session;
      },
    },
  };

  it.each(Object.keys(SESSIONS))('with %s is refused and writes nothing', async (name) => {
    const { code, forge } = SESSIONS[name]!;
    const session = await forge();
    const before = await stateOf(plane);
    const answer = await plane.client.call(session, 'scenario.write', runOnce(plane, 'forged'));
    expect(answer).toMatchObject({
      kind: 'refused',
      outcome: { kind: 'unauthenticated', executed: 'no', error: { code } },
    });
    expect(await stateOf(plane)).toStrictEqual(before);
  });

  const REQUESTS: Record<string, (honest: AcceptRequest) => AcceptRequest> = {
    "under a key of another subject's scope": (honest) => ({
      ...honest,
      callId: callIdFor(alice.id, 'victim')!,
    }),
    'in the name of a parent that is not running': (honest) => ({
      ...honest,
      proof: {
        kind: 'parent',
        owned: {
          callId: callIdFor(mallory.id, 'parent')!,
          pool: 'default',
          workerId: randomId() as WorkerId,
          entryId: '1-0',
          fence: 1,
        },
      },
    }),
    "in another subject's session with its own token": (honest) => ({ ...honest, session: alice.id }),
  };

  it.each(Object.keys(REQUESTS))('%s is refused and writes nothing', async (name) => {
    const honest = await honestRequest(plane, mallory, 'scenario.write', runOnce(plane, 'forged'));
    const before = await stateOf(plane);
    expect(await plane.store.acceptCall(REQUESTS[name]!(honest))).toStrictEqual({
      kind: 'unauthenticated',
      ending: 'unknown',
    });
    expect(await stateOf(plane)).toStrictEqual(before);
  });

  it("in the name of another subject's running call is refused and writes nothing", async () => {
    const run = holdRun(plane, 'parent');
    const calling = callFor(plane, alice, 'scenario.write', run.args, { key: 'running-parent' });
    await untilMarks(plane, 'S', 'parent');
    const worker = (await plane.store.listWorkers())[0]!.workerId;
    const honest = await honestRequest(plane, mallory, 'scenario.write', runOnce(plane, 'forged'));
    const before = await stateOf(plane);
    const owned = { callId: callIdFor(alice.id, 'running-parent')!, pool: 'default', workerId: worker, fence: 1 };
    for (const entryId of ['1', '1-0', '']) {
      const answer = await plane.store.acceptCall({
        ...honest,
        proof: { kind: 'parent', owned: { ...owned, entryId } },
      });
      expect(answer).toStrictEqual({ kind: 'unauthenticated', ending: 'unknown' });
    }
    expect(await stateOf(plane)).toStrictEqual(before);
    run.release();
    await calling;
  });

  describe('for the outcome of another subject', () => {
    let callId: CallId;
    beforeAll(async () => {
      await callFor(plane, alice, 'scenario.write', runOnce(plane, 'secret'), { key: 'secret' });
      callId = callIdFor(alice.id, 'secret')!;
    });
    const READERS: Record<string, { code: string; forge: () => Promise<SessionHandle> }> = {
      'by another subject': { code: 'CALL_UNKNOWN', forge: async () => mallory },
      'with a wrong token': { code: 'SESSION_INVALID', forge: SESSIONS['a wrong token']!.forge },
      "with another session's token": { code: 'SESSION_INVALID', forge: SESSIONS["another session's token"]!.forge },
      'by an invented session of the subject': {
        code: 'SESSION_INVALID',
        forge: SESSIONS['a session that never was']!.forge,
      },
      'by a revoked session of the subject': { code: 'SESSION_INVALID', forge: SESSIONS['a revoked session']!.forge },
    };

    it.each(Object.keys(READERS))('%s gets nothing from result and wait', async (name) => {
      const { code, forge } = READERS[name]!;
      const reader = await forge();
      await expect(plane.client.result(reader, callId)).rejects.toMatchObject({ code });
      await expect(plane.client.wait(reader, callId, { waitMs: 1 })).rejects.toMatchObject({ code });
    });

    it.each(Object.keys(READERS))('%s cancels nothing', async (name) => {
      const run = holdRun(plane, `running-${randomId()}`);
      const key = run.label;
      const calling = callFor(plane, alice, 'scenario.write', run.args, { key });
      await untilMarks(plane, 'S', run.label);
      const reader = await READERS[name]!.forge();
      await expect(plane.client.cancel(reader, callIdFor(alice.id, key)!)).rejects.toMatchObject({
        code: 'CALL_UNKNOWN',
      });
      run.release();
      expect((await calling).kind).toBe('ok');
    });
  });

  describe('with an envelope made by hand', () => {
    async function outcomeOfEnvelope(change: (fields: Record<string, unknown>) => unknown) {
      const honest = await honestRequest(plane, alice, 'scenario.write', runOnce(plane, 'by-hand'));
      const fields = decode(honest.envelope) as Record<string, unknown>;
      const accepted = await plane.store.acceptCall({ ...honest, envelope: encode(change(fields)) });
      if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
      const answer = await plane.client.wait(alice, accepted.callId, { waitMs: 60_000 });
      return answer.kind === 'settled' ? answer.outcome : answer;
    }

    it.each([2, 0, '1', null, 'missing'])(
      'of version %s is answered ENVELOPE_VERSION and runs nothing',
      async (version) => {
        const outcome = await outcomeOfEnvelope(({ version: _, ...fields }) =>
          version === 'missing' ? fields : { ...fields, version },
        );
        expect(outcome).toMatchObject({ kind: 'invalid', executed: 'no', error: { code: 'ENVELOPE_VERSION' } });
        expect(marksOf(plane, 'S', 'by-hand')).toHaveLength(0);
      },
    );

    const ENVELOPES: Record<string, (fields: Record<string, unknown>) => unknown> = {
      'with approved: true': (fields) => ({ ...fields, approved: true }),
      'with a fence': (fields) => ({ ...fields, fence: 99 }),
      'with a principal': (fields) => ({ ...fields, principal: { subject: 'operator' } }),
      'with an identity': (fields) => ({
        ...fields,
        identity: { subject: 'operator', tenant: 'default', agent: 'main' },
      }),
      'with __proto__': (fields) => ({ ...fields, ['__proto__x']: {} }),
      'for another session': (fields) => ({ ...fields, session: mallory.id }),
      'for another run': (fields) => ({ ...fields, run: mallory.run }),
      'for another tool': (fields) => ({ ...fields, tool: 'scenario.read' }),
      'with other arguments': (fields) => ({ ...fields, arguments: '{}' }),
      'without a key': ({ key: _, ...fields }) => fields,
      'that is a list': (fields) => Object.entries(fields),
      'that is text': () => 'run it',
    };
    it.each(Object.keys(ENVELOPES))('%s is refused as a whole and runs nothing', async (name) => {
      const outcome = await outcomeOfEnvelope(ENVELOPES[name]!);
      expect(outcome).toMatchObject({ kind: 'invalid', executed: 'no', error: { code: 'ENVELOPE_INVALID' } });
      expect(marksOf(plane, 'S', 'by-hand')).toHaveLength(0);
    });
  });
});

/** Any program with write access to the server's streams can add entries. An entry that no accept wrote must not reach a tool. */
describe('an entry written to a redis stream by hand', () => {
  let plane: StagedPlane;
  let alice: SessionHandle;
  let redis: Redis;
  const keys = laneKeys('sallyport', 0);
  beforeAll(async () => {
    plane = await stagePlane('redis');
    alice = await plane.openSession('alice');
    await plane.startWorker();
    await plane.client.catalog();
    redis = new Redis(plane.redis!.url);
  });
  afterAll(async () => {
    redis.disconnect();
    await plane.stop();
  });

  /** Adds an entry in the form that accept writes, with an identity that no session has. */
  async function addForged(tool: string, label: string): Promise<string> {
    const request = await honestRequest(plane, alice, tool, runOnce(plane, label));
    const args = (decode(request.envelope) as { arguments: string }).arguments;
    const epoch = await redis.hget(keys.meta, 'epoch');
    const identity = JSON.stringify({ tenant: 'default', subject: 'operator', agent: 'main' });
    const now = await plane.store.now();
    const meta = [
      identity,
      alice.id,
      epoch,
      now + 60_000,
      now,
      now + 60_000,
      '0',
      alice.run,
      bodyDigest(tool, args),
      tool,
    ];
    const fields = ['c', request.callId, 'm', meta.join('\n'), 'e', Buffer.from(request.envelope), 'f', '0', 'x', '00'];
    return (await redis.xadd(keys.stream('default'), '*', ...fields))!;
  }

  // A `read` tool would run, without a waiter for its answer: Redis credentials are trusted that far (docs/security.md).
  it.each(['scenario.write', 'scenario.root'])('does not run %s, and is swept away', async (tool) => {
    const before = (await endingsOf(plane)).length;
    const label = `hand-made-${tool}`;
    await addForged(tool, label);
    await eventually(async () => (await redis.xlen(keys.stream('default'))) === 0, {
      what: 'the entry to be swept away',
    });
    expect(marksOf(plane, 'S', label)).toHaveLength(0);
    expect(await endingsOf(plane)).toHaveLength(before);
    expect(await plane.store.listCalls({ limit: 10 })).toStrictEqual([]);
  });
});

describe('garbage in a redis stream', () => {
  let plane: StagedPlane;
  afterAll(() => plane.stop());

  it('does not cost the calls beside it their delivery', async () => {
    plane = await stagePlane('redis');
    const session = await plane.openSession();
    // The lease is so long that a call which was lost together with its batch would come back too late.
    const worker = await plane.startWorker({ leaseMs: 120_000 });
    const redis = new Redis(plane.redis!.url);
    const stream = laneKeys('sallyport', 0).stream('default');
    const addGarbage = async (): Promise<void> => {
      await redis.xadd(stream, '*', 'nonsense', 'x');
      await redis.xadd(stream, '*', 'c', '0.x.y', 'm', 'a\nb', 'e', '', 'f', 'NaN', 'x', '');
    };
    // What arrives while the worker stands still is read in one batch.
    worker.process.kill('SIGSTOP');
    await addGarbage();
    const calling = Array.from({ length: 5 }, (_, index) =>
      callFor(plane, session, 'scenario.write', runOnce(plane, `beside-${index}`)),
    );
    await eventually(async () => (await plane.store.listCalls({ limit: 10 })).length === 5);
    await addGarbage();
    redis.disconnect();
    worker.process.kill('SIGCONT');
    const outcomes = await Promise.all(calling);
    expect(outcomes.map(({ kind }) => kind)).toStrictEqual(['ok', 'ok', 'ok', 'ok', 'ok']);
  });
});
