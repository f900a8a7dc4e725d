import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallAnswer, Outcome, SessionHandle } from '../../src/exports/client.ts';
import type { CallId } from '../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { AcceptRequest } from '../../src/domain/ports/call-requests.ts';
import { DEFAULT_ADMISSION } from '../../src/operate/defaults.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { bodyDigest } from '../../src/domain/tool/digest.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { callIdFor, newWorkerId, randomId } from '../../src/domain/identity/new-id.ts';
import { encode } from '../../src/base/message-pack.ts';
import { COMMON_BAD_INPUT, CORPUS_SCHEMA, type BadInput } from '../fixtures/bad-input/common.ts';
import { DOOR_ROWS, SESSION_ROWS, type OtherSessions } from '../fixtures/corpus-plane/door-rows.ts';
import { ENVELOPE_ROWS, withArguments, type EnvelopeFields } from '../fixtures/corpus-plane/envelope-rows.ts';
import { BACKENDS, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import { audit } from './support/watch-plane.ts';

const MODULE = fileURLToPath(new URL('../fixtures/corpus-plane/corpus.mjs', import.meta.url));
/** The subject of the expired session. The reaper removes that session from the list at any time, so it is not compared. */
const EXPIRED = 'expired';
const DAY_MS = 24 * 60 * 60 * 1000;

/** A manifest that gives the tools of the corpus this plane's effect file. */
function corpusManifest(plane: StagedPlane): string {
  const file = join(plane.folder, 'modules.json');
  writeFileSync(file, JSON.stringify({ modules: [{ file: MODULE, setup: { effectFile: plane.effectFile } }] }));
  return file;
}

interface Traces {
  readonly live: readonly unknown[];
  readonly queues: readonly unknown[];
  readonly audited: number;
  readonly sessions: readonly string[];
  readonly effects: number;
  readonly keys: readonly string[];
}

/** Everything that a refused input could have left behind, except reply streams, which calls that were answered leave too. */
async function tracesIn(plane: StagedPlane): Promise<Traces> {
  const keys = plane.redis === undefined ? '' : await plane.redis.cli('KEYS', '*');
  const sessions = await plane.store.listSessions(1000);
  return {
    live: await plane.store.listCalls({ limit: 10 }),
    queues: await plane.store.queueState(),
    audited: (await audit(plane)).length,
    sessions: sessions
      .filter(({ identity }) => identity.subject !== EXPIRED)
      .map(({ id }) => id)
      .sort(),
    effects: plane.effects().length,
    keys: keys
      .split('\n')
      .filter((key) => !key.includes(':reply:'))
      .sort(),
  };
}

function textOf({ input }: BadInput): string {
  return input.kind === 'text' ? input.text : '';
}

/** The arguments in the form that the client library would have written. */
function canonicalOf(row: BadInput): string {
  return row.canonical ?? canonicalJson(JSON.parse(textOf(row)));
}

/** The arguments as the tool saw them. */
function gotBy({ structured }: Outcome): unknown {
  return JSON.parse((structured as { got: string }).got);
}

describe.each(BACKENDS)('bad input on %s', (backend) => {
  let plane: StagedPlane;
  let worker: PlaneWorker;
  let session: SessionHandle;
  let others: OtherSessions;
  let digests: Map<string, string>;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    worker = await plane.startWorker({ modules: corpusManifest(plane) });
    session = await plane.openSession();
    others = {
      ofOtherSubject: await plane.openSession('bob'),
      expired: await plane.client.openSession({ subject: EXPIRED, agent: 'main', lifetimeMs: 1 }),
      revoked: await plane.openSession(),
    };
    await plane.client.revokeSession(others.revoked.id);
    const { modules } = await plane.client.catalog();
    digests = new Map(modules.flatMap(({ tools }) => tools.map(({ id, digest }) => [id, digest])));
  });
  afterAll(() => plane.stop());

  /** Expects that the worker still runs and serves calls. Called after each part of the table. */
  async function expectServing(): Promise<void> {
    const answer = await plane.client.call(session, 'corpus.strict', { name: 'good' }, { waitMs: 60_000 });
    expect(answer).toMatchObject({ kind: 'settled', outcome: { kind: 'ok', structured: { got: '{"name":"good"}' } } });
    const { callId } = answer as Extract<CallAnswer, { kind: 'settled' }>;
    expect(plane.effects().filter((line) => line.includes(callId))).toHaveLength(1);
    expect(worker.process.exit).toBeUndefined();
  }

  async function expectRefusal(code: string, call: () => Promise<CallAnswer>): Promise<Outcome> {
    const before = await tracesIn(plane);
    const answer = await call();
    expect(answer).toMatchObject({ kind: 'refused', outcome: { executed: 'no', error: { code } } });
    expect(await tracesIn(plane)).toStrictEqual(before);
    return (answer as Extract<CallAnswer, { kind: 'refused' }>).outcome;
  }

  it('the tools publish the schema that the corpus is written for', async () => {
    const published = (await plane.client.catalog()).modules.flatMap(({ tools }) => tools);
    expect(published.find(({ id }) => id === 'corpus.strict')?.inputSchema).toMatchObject(CORPUS_SCHEMA);
  });

  describe('as a JavaScript value', () => {
    const values = COMMON_BAD_INPUT.flatMap(({ input, ...row }) =>
      input.kind === 'value' ? [{ ...row, make: input.make }] : [],
    );

    it.each(values)('$id $what in the arguments is refused ($answer)', async ({ make, answer }) => {
      const tooLarge = answer === 'size' || answer === 'depth';
      const code = tooLarge ? 'ARGUMENTS_TOO_LARGE' : 'ENVELOPE_INVALID';
      await expectRefusal(code, () => plane.client.call(session, 'corpus.open', make() as JsonObject));
    });

    it.each(values.filter(({ make }) => make() !== undefined))(
      '$id $what in the untrusted context is refused ($answer)',
      async ({ make }) => {
        const untrusted = make() as JsonObject;
        await expectRefusal('ENVELOPE_INVALID', () => plane.client.call(session, 'corpus.open', {}, { untrusted }));
      },
    );

    it('a member that is undefined is absent, in the arguments and in the untrusted context alike', async () => {
      const loose = { kept: 1, gone: undefined } as unknown as JsonObject;
      const answer = await plane.client.call(session, 'corpus.open', loose, { untrusted: loose, waitMs: 60_000 });
      const structured = { got: '{"kept":1}', untrusted: '{"kept":1}' };
      expect(answer).toMatchObject({ outcome: { kind: 'ok', structured } });
    });

    const texts = COMMON_BAD_INPUT.filter(({ input }) => input.kind === 'text');

    it.each(texts.filter(({ answer }) => answer === 'schema'))('$id $what is refused by the schema', async (row) => {
      const before = plane.effects();
      const args = JSON.parse(textOf(row)) as JsonObject;
      const answer = await plane.client.call(session, 'corpus.strict', args, { waitMs: 60_000 });
      expect(answer).toMatchObject({
        outcome: { kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_INVALID' } },
      });
      expect(JSON.stringify(answer).length).toBeLessThan(2000);
      expect(plane.effects()).toStrictEqual(before);
    });

    it.each(texts.filter(({ answer }) => answer === 'ok'))(
      '$id $what reaches the tool in canonical form',
      async (row) => {
        const args = JSON.parse(textOf(row)) as JsonObject;
        const answer = await plane.client.call(session, 'corpus.open', args, { waitMs: 60_000 });
        const { callId, outcome } = answer as Extract<CallAnswer, { kind: 'settled' }>;
        const canonical = canonicalOf(row);
        expect(outcome.kind).toBe('ok');
        expect(gotBy(outcome)).toStrictEqual(JSON.parse(canonical));
        expect((await plane.store.readCall(callId))?.bodyDigest).toBe(bodyDigest('corpus.open', canonical));
      },
    );

    it('a long text is not repeated in the error', async () => {
      const outcome = await expectRefusal('ENVELOPE_INVALID', () =>
        plane.client.call(session, 'corpus.open', { a: `secret-${'x'.repeat(1000)}\0` }),
      );
      expect(JSON.stringify(outcome)).not.toContain('secret-');
    });

    it('the worker serves on', () => expectServing());
  });

  describe('at the door', () => {
    it.each(DOOR_ROWS)('$what is refused as $code', async ({ code, call }) => {
      await expectRefusal(code, () => call(plane.client, session, others));
    });

    it.each(SESSION_ROWS)('a session with $what is not opened', async ({ options }) => {
      const before = await tracesIn(plane);
      await expect(plane.client.openSession(options)).rejects.toMatchObject({ code: 'SESSION_INVALID' });
      expect(await tracesIn(plane)).toStrictEqual(before);
    });

    it('waits of any length are understood, and one past what timers can count is not over at once', async () => {
      for (const waitMs of [2 ** 31, 1e99, Infinity]) {
        const answer = await plane.client.call(session, 'corpus.open', { waitMs: String(waitMs) }, { waitMs });
        expect(answer.kind).toBe('settled');
      }
    });

    it.each(['', 'garbage', '../x', `${'x'.repeat(1000)}`, '0.aaaaaaaaaaaa.aaaaaaaaaaaaaaaaaaaaaa'])(
      'the call id %j is unknown to result, wait and cancel',
      async (callId) => {
        const unknown = { code: 'CALL_UNKNOWN' };
        await expect(plane.client.result(session, callId)).rejects.toMatchObject(unknown);
        await expect(plane.client.wait(session, callId)).rejects.toMatchObject(unknown);
        await expect(plane.client.cancel(session, callId)).rejects.toMatchObject(unknown);
      },
    );

    it('the worker serves on', () => expectServing());
  });

  /** What our own library would send, for a call under a key of its own. */
  function requestOf(
    change: (envelope: EnvelopeFields) => Uint8Array,
    given: { tool?: string; args?: string } = {},
  ): AcceptRequest {
    const { tool = 'corpus.open', args = '{"a":1}' } = given;
    const key = randomId();
    const envelope: EnvelopeFields = {
      version: 1,
      session: session.id,
      run: session.run,
      tool,
      toolDigest: digests.get(tool) ?? 'none',
      arguments: args,
      key,
      depth: 0,
    };
    return {
      callId: callIdFor(session.id, key)!,
      bodyDigest: bodyDigest(tool, args),
      session: session.id,
      run: session.run,
      proof: { kind: 'token', tokenDigest: sha256(session.token) },
      tool: tool as AcceptRequest['tool'],
      pool: 'default',
      serial: false,
      envelope: change(envelope),
      deadlineMs: 30_000,
      admission: DEFAULT_ADMISSION,
    };
  }

  /** Sends a request directly to the store, without the client library, and returns its outcome. */
  async function settleBus(request: AcceptRequest): Promise<Outcome> {
    const accepted = await plane.store.acceptCall(request);
    expect(accepted).toMatchObject({ kind: 'accepted', callId: request.callId });
    const answer = await plane.client.wait(session, request.callId, { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(`the call is ${answer.kind}`);
    return answer.outcome;
  }

  async function expectEnded(code: string, request: AcceptRequest): Promise<void> {
    const before = await tracesIn(plane);
    const outcome = await settleBus(request);
    expect(outcome).toMatchObject({ error: { code } });
    expect(outcome.executed).not.toBe('yes');
    const { keys, audited, ...after } = await tracesIn(plane);
    expect(after).toStrictEqual({
      live: [],
      queues: before.queues,
      sessions: before.sessions,
      effects: before.effects,
    });
    expect(audited).toBe(before.audited + 1);
    // Keys that a settled call may add: the hash of calls, the count of their bytes, and the lists by which they are forgotten.
    const own = (key: string): boolean => /:(calls|retained|forget:\d+)$/.test(key);
    expect(keys.filter((key) => !before.keys.includes(key) && !own(key))).toStrictEqual([]);
  }

  describe('on the bus', () => {
    it.each(ENVELOPE_ROWS)('$id: an envelope with $what ends as $code', async ({ code, bytes }) => {
      await expectEnded(code, requestOf(bytes));
    });

    it('B14: a tool that no worker has ends as TOOL_UNKNOWN', async () => {
      await expectEnded('TOOL_UNKNOWN', requestOf(encode, { tool: 'corpus.gone' }));
      await expectEnded('TOOL_UNKNOWN', requestOf(encode, { tool: '../x' }));
    });

    const texts = COMMON_BAD_INPUT.flatMap((row) => (row.input.kind === 'value' ? [] : [row]));

    it.each(texts.filter(({ answer }) => answer !== 'ok'))(
      '$id $what as arguments is refused ($answer)',
      async (row) => {
        const code = row.answer === 'schema' ? 'ARGUMENTS_INVALID' : 'ENVELOPE_INVALID';
        await expectEnded(code, corpusRequest(row));
      },
    );

    it.each(texts.filter(({ answer }) => answer === 'ok'))(
      '$id $what as arguments reaches the tool as it is',
      async (row) => {
        const outcome = await settleBus(corpusRequest(row));
        expect(outcome.kind).toBe('ok');
        expect(gotBy(outcome)).toStrictEqual(JSON.parse(canonicalOf(row)));
      },
    );

    it('the worker serves on', () => expectServing());

    function corpusRequest(row: BadInput): AcceptRequest {
      const tool = row.answer === 'schema' ? 'corpus.strict' : 'corpus.open';
      if (row.answer === 'ok') return requestOf(encode, { tool, args: canonicalOf(row) });
      if (row.input.kind === 'text') return requestOf(encode, { tool, args: row.input.text });
      const { bytes } = row.input as Extract<BadInput['input'], { kind: 'bytes' }>;
      // The digest is that of the text which a lenient decoder makes of the bytes, so it fits: only a strict decoder notices the row.
      return requestOf((envelope) => withArguments(envelope, bytes), { tool, args: new TextDecoder().decode(bytes) });
    }
  });

  describe('as requests to the store', () => {
    it.each(['', 'x', '{a}:b', 'a\nb', 'x'.repeat(256), '0.short.x'])(
      'B06: the call id %j is not accepted',
      async (callId) => {
        const request = { ...requestOf(encode), callId: callId as CallId };
        const before = await tracesIn(plane);
        expect(await plane.store.acceptCall(request)).toStrictEqual({ kind: 'unauthenticated', ending: 'unknown' });
        expect(await tracesIn(plane)).toStrictEqual(before);
      },
    );

    it('B06: a call id of another subject, of another lane, or of a later generation is not accepted', async () => {
      const { callId, ...request } = requestOf(encode);
      const foreign = callIdFor(others.ofOtherSubject.id, 'key')!;
      const before = await tracesIn(plane);
      const wrong = [foreign, callId.replace(/^0/, '3'), `${callId}~2`] as CallId[];
      const answers = await Promise.all(wrong.map((id) => plane.store.acceptCall({ ...request, callId: id })));
      expect(answers).toStrictEqual(wrong.map(() => ({ kind: 'unauthenticated', ending: 'unknown' })));
      expect(await tracesIn(plane)).toStrictEqual(before);
    });

    it('B28: no worker settles, renews, starts or gives back a call that it does not hold', async () => {
      // No worker serves this pool, so no worker takes the call meanwhile.
      const request = { ...requestOf(encode), pool: 'nobody' };
      await plane.store.acceptCall(request);
      for (const fence of [0, -1, 1, 2, 1e9, 0.5, Number.NaN]) {
        const owned = { callId: request.callId, pool: 'nobody', workerId: newWorkerId(), entryId: '1-1', fence };
        const settling = { ...owned, outcome: encode({}), releaseKey: false, audit: encode({}), retentionMs: DAY_MS };
        expect(await plane.store.settleCall(settling)).toBe('fenced');
        expect(await plane.store.renewCalls({ lane: 0, calls: [owned] })).toStrictEqual(['fenced']);
        expect(await plane.store.startCall({ ...owned, effect: 'unsafe', maxAttempts: 1 })).toStrictEqual({
          kind: 'fenced',
        });
        expect(await plane.store.abandonCall({ ...owned, handedBack: false })).toBe('fenced');
      }
      expect(await plane.store.readCall(request.callId)).toMatchObject({ state: 'queued', starts: 0 });
      expect(await plane.client.cancel(session, request.callId)).toBe('cancelled');
    });

    it('B30: a settled call is not renewed, settled or started again', async () => {
      const request = requestOf(encode);
      await settleBus(request);
      const record = await plane.store.readCall(request.callId);
      const { workerId } = (await plane.store.listWorkers())[0]!;
      const owned = { callId: request.callId, pool: 'default', workerId, entryId: '1', fence: 1 };
      const settling = { ...owned, outcome: encode({}), releaseKey: false, audit: encode({}), retentionMs: DAY_MS };
      expect(await plane.store.settleCall(settling)).toBe('fenced');
      expect(await plane.store.renewCalls({ lane: 0, calls: [owned] })).toStrictEqual(['fenced']);
      expect(await plane.store.startCall({ ...owned, effect: 'read', maxAttempts: 3 })).toStrictEqual({
        kind: 'fenced',
      });
      expect(await plane.store.readCall(request.callId)).toStrictEqual(record);
    });

    it('the worker serves on', () => expectServing());
  });
});
