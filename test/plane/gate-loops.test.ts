import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_ADMISSION } from '../../src/operate/defaults.ts';
import { openStore } from '../../src/operate/open-store.ts';
import { startWorker } from '../../src/compose/start-worker.ts';
import { indexTools } from '../../src/domain/tool/catalog.ts';
import type { ToolId } from '../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { LoopOptions } from '../../src/domain/policy/loop-settings.ts';
import { connect, type Client, type Outcome, type SessionHandle } from '../../src/exports/client.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import type { AnyStore } from '../../src/domain/ports/store.ts';
import { prepareCall } from '../../src/stages/accept/prepare-call.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { decodeOutcome } from '../../src/domain/outcome/outcome-bytes.ts';
import { eventually, spawnNode, temporaryFolder } from '../support/process.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { GATE_MODULES, policyWith, recordsOf } from './support/gate-plane.ts';
import {
  BACKENDS,
  BASIC_MODULES,
  LEASE_MS,
  OPEN_POLICY,
  stagePlane,
  type BackendName,
  type StagedPlane,
} from './support/stage-plane.ts';
import { callFor } from './support/watch-plane.ts';

const OWNER_SCRIPT = fileURLToPath(new URL('support/owner-process.mjs', import.meta.url));
/** The numbers of the calls, from 1, that came with advice. */
const advisedOf = (outcomes: readonly Outcome[]): number[] =>
  outcomes.flatMap(({ advice }, index) => (advice === undefined ? [] : [index + 1]));
const codeOf = ({ kind, error }: Outcome): string => error?.code ?? kind;

/** Shortens a list: neighbours that are the same become one entry [word, how often]. */
function shorten(words: readonly string[]): [string, number][] {
  const short: [string, number][] = [];
  for (const word of words) {
    const last = short.at(-1);
    if (last?.[0] === word) last[1] += 1;
    else short.push([word, 1]);
  }
  return short;
}

/** Redis keeps the attempts of a run only from the first repetition on, so one more round is needed there. */
const unseen = (backend: BackendName, round = 1): number => (backend === 'redis' ? round : 0);

/** An open policy with the default settings of loop detection. */
const DEFAULT_LOOPS: Policy = { ...OPEN_POLICY, loops: {} };

describe.each(BACKENDS)('loops on %s', (backend) => {
  const late = unseen(backend);
  let plane: StagedPlane;
  let session: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    // Two workers, so that the calls of one run are spread over both.
    for (let count = 0; count < 2; count += 1) await plane.startWorker({ modules: GATE_MODULES, concurrency: 1 });
  });
  beforeEach(async () => {
    await plane.setPolicy(DEFAULT_LOOPS);
    session = await plane.openSession();
  });
  afterAll(() => plane.stop());

  const look = (run: SessionHandle, text = 'always the same') => callFor(plane, run, 'desk.look', { text });
  async function times(count: number, call: (index: number) => Promise<Outcome>): Promise<Outcome[]> {
    const outcomes: Outcome[] = [];
    for (let index = 0; index < count; index += 1) outcomes.push(await call(index));
    return outcomes;
  }
  const setLoops = (options: LoopOptions) => plane.setPolicy(policyWith([], { loops: { default: options } }));

  it('A A A … are warned inside the result, blocked, and end the run; the next run is stricter', async () => {
    const outcomes = await times(30 + late, () => look(session));
    expect(shorten(outcomes.map(codeOf))).toEqual([
      ['ok', 20 + late],
      ['LOOP_BLOCKED', 9],
      ['RUN_ENDED_BY_LOOP', 1],
    ]);
    expect(advisedOf(outcomes)).toEqual([11 + late]);
    expect(outcomes[10 + late]).toStrictEqual({
      kind: 'ok',
      executed: 'yes',
      retryable: false,
      content: [],
      structured: { letters: 0 },
      advice: expect.stringMatching(/^You have called desk\.look 10 times/) as string,
    });
    expect(outcomes.at(-1)).toMatchObject({ kind: 'blocked', executed: 'no' });
    const after = await plane.client.call(session, 'desk.look', { text: 'something else' });
    expect(after).toMatchObject({
      kind: 'refused',
      outcome: { kind: 'blocked', executed: 'no', error: { code: 'RUN_ENDED_BY_LOOP', facts: { detector: 'ended' } } },
    });

    const fresh = await plane.client.openRun(session);
    const again = await times(12 + late, () => look(fresh));
    expect(shorten(again.map(codeOf))).toEqual([
      ['ok', 10 + late],
      ['LOOP_BLOCKED', 2],
    ]);
    expect((await look(fresh, 'something else')).kind).toBe('ok');
  });

  it('are seen by the audit with the detector that stopped them', async () => {
    await setLoops({ repeat: { warn: 1, block: 2 } });
    await times(2 + late, () => look(session));
    const answer = await plane.client.call(session, 'desk.look', { text: 'always the same' }, { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(answer.kind);
    expect(await recordsOf(plane, answer.callId)).toMatchObject([
      { event: 'call.settled', detail: { code: 'LOOP_BLOCKED', detector: 'repeat' } },
    ]);
  });

  it('of one failure with changing arguments are stopped, and of A B A B', async () => {
    await setLoops({ sameFailure: { warn: 2, block: 4 }, cycle: { warn: 3, block: 8 } });
    const failing = await times(6, (index) => callFor(plane, session, 'desk.fail', { text: `try ${index}` }));
    expect(shorten(failing.map(codeOf))).toEqual([
      ['TOOL_FAILED', 4],
      ['LOOP_BLOCKED', 2],
    ]);
    const other = await plane.openSession();
    const circling = await times(9 + 2 * late, (index) => look(other, `number ${index % 2}`));
    expect(shorten(circling.map(codeOf))).toEqual([
      ['ok', 8 + 2 * late],
      ['LOOP_BLOCKED', 1],
    ]);
  });

  it('of programs that return a non-zero exit code are stopped as failures', async () => {
    const failing = await times(21, (index) => callFor(plane, session, 'desk.weigh', { text: `letter ${index}` }));
    expect(shorten(failing.map(codeOf))).toEqual([
      ['TOOL_FAILED', 20],
      ['LOOP_BLOCKED', 1],
    ]);
  });

  it('of wrong arguments, and of a tool that the agent may not use, are stopped', async () => {
    await plane.setPolicy({
      ...OPEN_POLICY,
      permissions: { ...OPEN_POLICY.permissions, 'desk.send': { deny: ['*'] } },
      loops: { default: { sameFailure: { warn: 2, block: 4 } } },
    });
    const wrong = await times(5, (index) => callFor(plane, session, 'desk.look', { text: index }));
    expect(wrong.map(codeOf).slice(3)).toEqual(['ARGUMENTS_INVALID', 'LOOP_BLOCKED']);
    expect(advisedOf(wrong)).toEqual([3]);
    const closed = await times(5, (index) => callFor(plane, session, 'desk.send', { file: '-', text: `${index}` }));
    expect(closed.map(codeOf).slice(3)).toEqual(['PERMISSION_DENIED', 'LOOP_BLOCKED']);
    expect(advisedOf(closed)).toEqual([3]);
  });

  it('of a tool that does not exist are stopped', async () => {
    await setLoops({ unknownTool: { warn: 2, block: 4 } });
    const known = indexTools(await plane.store.readCatalog()).get('desk.look' as ToolId)!;
    const published = { ...known, tool: { ...known.tool, id: 'desk.nothing' as ToolId, digest: 'f'.repeat(64) } };
    // The client library refuses an unknown tool itself, so the call is sent to the store as another caller could.
    const outcomes = await times(5, async () => {
      const prepared = prepareCall({
        session: session.id,
        run: session.run,
        proof: { kind: 'token', tokenDigest: sha256(session.token) },
        tool: published,
        arguments: { text: 'x' },
        key: randomId(),
        depth: 0,
        admission: DEFAULT_ADMISSION,
      });
      if (prepared.kind !== 'prepared') throw new Error('not prepared');
      const accepted = await plane.store.acceptCall(prepared.request);
      if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
      const { callId } = accepted;
      const stored = await eventually(async () => (await plane.store.readCall(callId))?.outcome, {
        what: `the outcome of ${callId}`,
      });
      return decodeOutcome(stored);
    });
    expect(shorten(outcomes.map(codeOf))).toEqual([
      ['TOOL_UNKNOWN', 4],
      ['LOOP_BLOCKED', 1],
    ]);
    expect(advisedOf(outcomes)).toEqual([3]);
  });

  it('of a name that no published tool has are stopped by the client library, and end the run', async () => {
    const codes = async (run: SessionHandle, count: number) => {
      const outcomes = await times(count, async (index) => {
        const answer = await plane.client.call(run, 'desk.nothing', { index });
        if (answer.kind !== 'refused') throw new Error(answer.kind);
        return answer.outcome;
      });
      return shorten(outcomes.map(codeOf));
    };
    expect(await codes(session, 21)).toEqual([
      ['TOOL_UNKNOWN', 10],
      ['LOOP_BLOCKED', 9],
      ['RUN_ENDED_BY_LOOP', 2],
    ]);
    expect(await plane.client.call(session, 'desk.look', { text: 'x' })).toMatchObject({
      outcome: { error: { code: 'RUN_ENDED_BY_LOOP' } },
    });
    // A request with a wrong token does not end the session's run.
    const own = await plane.openSession();
    await codes({ ...own, token: 'x'.repeat(43) }, 30);
    expect((await look(own)).kind).toBe('ok');
  });

  it('with a nonce in the arguments are stopped like any other, and batches are not', async () => {
    const outcomes = await times(22 + 3 * late, (index) => look(session, `number ${index % 3} ${randomUUID()}`));
    expect(shorten(outcomes.map(codeOf))).toEqual([
      ['ok', 20 + late * 3],
      ['LOOP_BLOCKED', 2],
    ]);
    const other = await plane.openSession();
    expect(shorten((await times(40, (index) => look(other, `number ${index}`))).map(codeOf))).toEqual([['ok', 40]]);
  });

  it('over many short runs of a session are stopped', async () => {
    let run = session;
    const outcomes = await times(72, async (index) => {
      if (index % 9 === 0) run = await plane.client.openRun(session);
      return look(run);
    });
    const first = outcomes.map(codeOf).indexOf('LOOP_BLOCKED');
    expect(first).toBe(backend === 'redis' ? 61 : 52);
    expect(outcomes[first]).toMatchObject({ error: { facts: { detector: 'session', scope: 'call' } } });
    expect((await look(run, 'something else')).kind).toBe('ok');
  });

  describe('budgets', () => {
    it('of calls per run, also when loop detection is off', async () => {
      await setLoops({ enabled: false, budgets: { callsPerRun: 3 } });
      const outcomes = await times(5, (index) => look(session, `number ${index}`));
      expect(outcomes.map(codeOf)).toEqual(['ok', 'ok', 'ok', 'BUDGET_SPENT', 'BUDGET_SPENT']);
      expect((await look(await plane.client.openRun(session))).kind).toBe('ok');
      await setLoops({ budgets: { callsPerRun: 10 } });
      expect((await look(session)).kind).toBe('ok');
    });

    it('of calls per tool, and others may still be called', async () => {
      await setLoops({ budgets: { callsPerTool: { 'desk.look': 2 } } });
      const outcomes = await times(3, (index) => look(session, `number ${index}`));
      expect(outcomes.map(codeOf)).toEqual(['ok', 'ok', 'BUDGET_SPENT']);
      expect((await callFor(plane, session, 'desk.frank', { price: 0, text: 'x' })).kind).toBe('ok');
    });

    it('of cost, as the tool counts it', async () => {
      await setLoops({ budgets: { cost: 1 } });
      const frank = (index: number) => callFor(plane, session, 'desk.frank', { price: 0.4, text: `${index}` });
      expect((await times(4, frank)).map(codeOf)).toEqual(['ok', 'ok', 'ok', 'BUDGET_SPENT']);
    });

    it('of wall time', async () => {
      await setLoops({ budgets: { wallTimeMs: 1 } });
      const from = await plane.store.now();
      await eventually(async () => (await plane.store.now()) > from + 2, { what: '2 ms of store time' });
      expect(codeOf(await look(session))).toBe('BUDGET_SPENT');
    });
  });
});

describe('loops when everything is killed', () => {
  let close: () => Promise<unknown>;
  afterEach(() => close());

  it('on redis go on where they were: workers and Redis come back and know the run', async () => {
    const plane = await stagePlane('redis', 'always');
    close = () => plane.stop();
    await plane.setPolicy(DEFAULT_LOOPS);
    const session = await plane.openSession();
    const look = () => callFor(plane, session, 'desk.look', { text: 'always the same' });
    for (const killed of [true, false]) {
      const worker = await plane.startWorker({ modules: GATE_MODULES });
      for (let count = 0; count < 10; count += 1) expect((await look()).kind).toBe('ok');
      if (!killed) break;
      worker.process.kill('SIGKILL');
      await plane.redis!.kill('SIGKILL');
      await plane.redis!.restart();
    }
    for (let count = 0; count < unseen('redis'); count += 1) await look();
    expect(codeOf(await look())).toBe('LOOP_BLOCKED');
  });

  it('on embedded go on where they were: the owner comes back and knows the run', async () => {
    const folder = temporaryFolder('sallyport-loops');
    const options = { store: 'embedded', folder: join(folder.path, 'store'), mode: 'connect' } as const;
    const env = {
      OWNER: JSON.stringify({ folder: options.folder, modules: BASIC_MODULES, leaseMs: LEASE_MS, loops: {} }),
      XDG_RUNTIME_DIR: folder.path,
    };
    const owners: Awaited<ReturnType<typeof spawnNode>>[] = [];
    let client: Client | undefined;
    close = async () => {
      await client?.close();
      await Promise.all(owners.map((owner) => owner.stop()));
      folder.remove();
    };
    let session: SessionHandle | undefined;
    const echo = async (): Promise<Outcome> => {
      const answer = await client!.call(session!, 'basic.echo', { text: 'x' }, { waitMs: 60_000 });
      if (answer.kind === 'pending') throw new Error('pending');
      return answer.outcome;
    };
    for (const killed of [true, false]) {
      const owner = await spawnNode(OWNER_SCRIPT, [], { env });
      owners.push(owner);
      await owner.waitForLine(/^ready /);
      client ??= await connect(options);
      session ??= await client.openSession({ subject: 'alice', agent: 'main' });
      for (let count = 0; count < 10; count += 1) expect((await echo()).kind).toBe('ok');
      if (killed) owner.kill('SIGKILL');
    }
    expect(codeOf(await echo())).toBe('LOOP_BLOCKED');
  });
});

describe.each(BACKENDS)('an allowed call on %s', (backend) => {
  it('costs no store request more with three rules and loop detection than without', async () => {
    const plane = await stagePlane(backend);
    const requests: string[] = [];
    const worker = await startWorker(
      { ...plane.storeOptions, modules: GATE_MODULES, health: false, log: SILENT_LOG },
      { openStore: async (options) => countRequests(await openStore(options), requests) },
    );
    const session = await plane.openSession();
    const call = async (args: JsonObject): Promise<string[]> => {
      expect((await callFor(plane, session, 'desk.look', args)).kind).toBe('ok');
      return requests.splice(0).filter((name) => !MADE_BY_TIME.includes(name));
    };
    await plane.setPolicy({ ...OPEN_POLICY, loops: { default: { enabled: false } } });
    await call({ text: 'to know the policy' });
    const without = await call({ text: 'plain' });
    await plane.setPolicy(
      policyWith([
        { id: 'one', verdict: 'deny', arguments: [{ at: '/text', prefix: 'spam' }] },
        { id: 'two', verdict: 'ask', arguments: [{ at: '/text', glob: 'secret*' }] },
        { id: 'three', verdict: 'allow', tools: ['desk.*'] },
      ]),
    );
    await call({ text: 'to know the policy' });
    const withGate = await call({ text: 'gated' });
    // The same call is repeated, so it is delivered with the history of its run.
    const repeated = await call({ text: 'gated' });
    expect(without).toEqual(['settleCall']);
    expect([withGate, repeated]).toEqual([without, without]);
    await worker.drain();
    await plane.stop();
  });
});

/**
 * Requests that the passing of time causes, whatever is called: the worker waits for calls, registers and renews, reads the policy once a
 * second, and on a slow machine asks again about a delivery that it has held for too long.
 */
const MADE_BY_TIME: readonly string[] = [
  'claimCalls',
  'reclaimCalls',
  'now',
  'registerWorker',
  'readNewerPolicy',
  'recheckSessions',
  'renewCalls',
];

function countRequests(store: AnyStore, requests: string[]): AnyStore {
  const counted: Record<string, unknown> = { ...store, lanes: store.lanes };
  for (const [name, member] of Object.entries(store) as [string, unknown][]) {
    if (typeof member !== 'function') continue;
    counted[name] = (...given: unknown[]): unknown => {
      requests.push(name);
      return (member as (...all: unknown[]) => unknown).apply(store, given);
    };
  }
  return counted as unknown as AnyStore;
}
