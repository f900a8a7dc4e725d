import { nestedPool } from '../../src/domain/identity/ids.ts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../src/exports/client.ts';
import { LIMITS } from '../../src/domain/call/call.ts';
import type { WorkerId } from '../../src/domain/identity/ids.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Delivery } from '../../src/domain/ports/call-requests.ts';
import { decodeEnvelope } from '../../src/domain/call/envelope.ts';
import { callIdFor } from '../../src/domain/identity/new-id.ts';
import { encode } from '../../src/base/message-pack.ts';
import { encodeOutcome } from '../../src/domain/outcome/outcome-bytes.ts';
import { readAuditDetail } from '../../src/domain/audit/audit-detail.ts';
import { createModuleFolder, moduleText, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { eventually } from '../support/process.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import {
  audit,
  callFor,
  endingsOf,
  holdRun,
  marksOf,
  queueCounts,
  releaseRuns,
  runOnce,
  untilDraining,
  untilMarks,
  untilStoreTime,
} from './support/watch-plane.ts';

const TEST_WORKER = 'the-test' as WorkerId;

describe.each(BACKENDS)('a nested call on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  let worker: PlaneWorker;
  let elsewhere: ModuleFolder;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    session = await plane.openSession();
    worker = await plane.startWorker({ concurrency: 1 });
    // After publishing, no worker serves the pool of this module, so only the test claims its calls.
    elsewhere = createModuleFolder({ 'far.js': moduleText({ id: 'far', tool: "effect: 'read'," }) });
    const publisher = await plane.startWorker({ modules: elsewhere.path, pool: 'elsewhere' });
    await publisher.process.stop();
  });
  afterEach(async () => {
    releaseRuns();
    await plane.setPolicy(OPEN_POLICY);
  });
  afterAll(async () => {
    await plane.stop();
    elsewhere.dispose();
  });

  const nesting = (label: string, tool: string, args: JsonObject, more: JsonObject = {}): JsonObject => ({
    ...runOnce(plane, label),
    tool,
    args,
    ...more,
  });

  async function takeFromElsewhere(): Promise<Delivery> {
    const claim = { lane: 0, pool: nestedPool('elsewhere'), workerId: TEST_WORKER, limit: 1, waitMs: 60_000 };
    const { deliveries } = await plane.store.claimCalls(claim);
    if (deliveries[0] === undefined) throw new Error('no nested call came');
    return deliveries[0];
  }

  it("carries its parent's id, session, run and identity, one level deeper", async () => {
    const calling = callFor(plane, session, 'scenario.nest', nesting('outer', 'far.echo', { text: 'hi' }), {
      key: 'outer',
    });
    const delivery = await takeFromElsewhere();
    const decoded = decodeEnvelope(delivery.envelope);
    expect(decoded).toMatchObject({
      kind: 'envelope',
      envelope: {
        parent: callIdFor(session.id, 'outer'),
        depth: 1,
        session: session.id,
        run: session.run,
        tool: 'far.echo',
        arguments: '{"text":"hi"}',
      },
    });
    expect(JSON.parse(delivery.identity)).toMatchObject({ subject: 'alice', agent: 'main', tenant: 'default' });
    await plane.store.settleCall({
      ...delivery,
      outcome: encodeOutcome({
        kind: 'ok',
        executed: 'yes',
        retryable: false,
        content: [],
        structured: { from: 'afar' },
      }),
      releaseKey: false,
      audit: encode({ outcome: 'ok' }),
      retentionMs: 60_000,
    });
    expect((await calling).structured).toMatchObject({ kind: 'ok', structured: { from: 'afar' } });
  });

  it('runs as the same subject, in a worker with a single slot', async () => {
    const outcome = await callFor(plane, session, 'scenario.nest', nesting('who', 'scenario.whoAmI', {}));
    const inner = (outcome.structured as { structured: { callId: string; identity: JsonObject } }).structured;
    expect(inner.identity).toMatchObject({ subject: 'alice', agent: 'main' });
    expect(inner.callId).not.toBe(marksOf(plane, 'N', 'who')[0]!.callId);
    expect(await endingsOf(plane, inner.callId)).toHaveLength(1);
  });

  it('that is denied is denied inside the parent, which goes on', async () => {
    await plane.setPolicy({
      ...OPEN_POLICY,
      permissions: { '*': { allow: ['*'] }, 'scenario.write': { deny: ['alice'] } },
    });
    const outcome = await callFor(
      plane,
      session,
      'scenario.nest',
      nesting('deny', 'scenario.write', runOnce(plane, 'no')),
    );
    expect(outcome).toMatchObject({
      kind: 'ok',
      structured: { kind: 'denied', executed: 'no', code: 'PERMISSION_DENIED' },
    });
    expect(marksOf(plane, 'S', 'no')).toHaveLength(0);
  });

  it('of a privileged tool needs its own permission, and its intent is in the audit before its end', async () => {
    const args = () => nesting('privileged', 'scenario.root', runOnce(plane, 'root'));
    const refused = await callFor(plane, session, 'scenario.nest', args());
    expect(refused.structured).toMatchObject({ kind: 'denied', code: 'PERMISSION_DENIED' });
    expect(marksOf(plane, 'S', 'root')).toHaveLength(0);

    await plane.setPolicy({
      ...OPEN_POLICY,
      permissions: { '*': { allow: ['*'] }, 'scenario.root': { allow: ['operator'] } },
    });
    const operator = await plane.openSession('operator');
    const allowed = await callFor(plane, operator, 'scenario.nest', args());
    expect(allowed.structured).toMatchObject({ kind: 'ok' });
    const { callId } = marksOf(plane, 'S', 'root')[0]!;
    const records = await audit(plane);
    const own = records.filter((entry) => entry.callId === callId);
    expect(own.map(({ event }) => event)).toStrictEqual(['call.intended', 'call.settled']);
    const parent = records.findLast((entry) => entry.tool === 'scenario.nest')!.callId;
    expect(own.map(({ detail }) => readAuditDetail(detail).facts.parent)).toStrictEqual([parent, parent]);
  });

  it('of an unknown tool or with wrong arguments is answered to the parent', async () => {
    const unknown = await callFor(plane, session, 'scenario.nest', nesting('unknown', 'scenario.nothing', {}));
    expect(unknown.structured).toMatchObject({ kind: 'unknown-tool', code: 'TOOL_UNKNOWN' });
    const wrong = await callFor(plane, session, 'scenario.nest', nesting('wrong', 'scenario.write', { file: 1 }));
    expect(wrong.structured).toMatchObject({ kind: 'invalid', code: 'ARGUMENTS_INVALID' });
  });

  it(`may go ${LIMITS.nestedDepth} levels deep and no deeper, in a worker with a single slot`, async () => {
    let args: JsonObject = nesting('level-0', 'scenario.whoAmI', {});
    for (let level = 1; level <= LIMITS.nestedDepth; level += 1)
      args = nesting(`level-${level}`, 'scenario.nest', args);
    const outcome = await callFor(plane, session, 'scenario.nest', args);
    const kinds: unknown[] = [];
    for (
      let at: JsonObject | null = outcome.structured as JsonObject;
      at !== null;
      at = at['structured'] as JsonObject
    ) {
      kinds.push(at['code'] ?? at['kind']);
    }
    expect(kinds).toStrictEqual([...Array.from({ length: LIMITS.nestedDepth }, () => 'ok'), 'NESTED_TOO_DEEP']);
  });

  it('by each of many parents gets its turn and costs none of them its lease, in a worker with a single slot', async () => {
    const sessions = await Promise.all(['p1', 'p2', 'p3'].map((subject) => plane.openSession(subject)));
    // Slow enough together to outlast the lease of two seconds.
    const childOf = (label: string): JsonObject => ({ ...runOnce(plane, `child-${label}`), ms: 40 });
    const labels = sessions.flatMap((_, subject) => Array.from({ length: 40 }, (__, index) => `${subject}-${index}`));
    const outcomes = await Promise.all(
      labels.map((label, index) =>
        callFor(
          plane,
          sessions[index % sessions.length]!,
          'scenario.nest',
          nesting(`many-${label}`, 'scenario.busy', childOf(label)),
        ),
      ),
    );
    expect(outcomes.filter(({ kind }) => kind !== 'ok').map(({ error }) => error?.code)).toStrictEqual([]);
    expect(marksOf(plane, 'S').filter(({ label }) => label.startsWith('child-'))).toHaveLength(120);
  });

  it('of a tool that runs one at a time, by that tool itself, ends', async () => {
    const inner = nesting('inner-single', 'scenario.whoAmI', {});
    const calling = callFor(
      plane,
      session,
      'scenario.nestSingle',
      nesting('outer-single', 'scenario.nestSingle', inner),
    );
    expect(await calling).toMatchObject({ kind: 'ok', structured: { kind: 'ok', structured: { kind: 'ok' } } });
  });

  it('that runs is cancelled with its parent and sees its abort', async () => {
    const child = holdRun(plane, 'cancelled-child');
    const calling = callFor(plane, session, 'scenario.nest', nesting('cancelled', 'scenario.write', child.args), {
      key: 'cancelled',
    });
    const [started] = await untilMarks(plane, 'S', 'cancelled-child');
    await plane.client.cancel(session, callIdFor(session.id, 'cancelled')!);
    expect((await calling).kind).toBe('cancelled');
    await untilMarks(plane, 'A', 'cancelled-child');
    const ended = await plane.client.wait(session, started!.callId, { waitMs: 60_000 });
    expect(ended).toMatchObject({ kind: 'settled', outcome: { kind: 'cancelled' } });
    expect(marksOf(plane, 'E', 'cancelled-child')).toHaveLength(0);
  });

  it('that still waits ends with its cancelled parent and is never delivered', async () => {
    const controller = new AbortController();
    const calling = callFor(plane, session, 'scenario.nest', nesting('waiting', 'far.echo', {}), {
      signal: controller.signal,
    });
    const waiting = await eventually(
      async () => (await plane.store.listCalls({ limit: 10 })).find(({ tool }) => tool === 'far.echo'),
      { what: 'the nested call to be queued' },
    );
    controller.abort();
    expect((await calling).kind).toBe('cancelled');
    expect(await endingsOf(plane, waiting.callId)).toMatchObject([{ outcome: 'cancelled' }]);
    const claim = { lane: 0, pool: nestedPool('elsewhere'), workerId: TEST_WORKER, limit: 1, waitMs: 0 };
    expect((await plane.store.claimCalls(claim)).deliveries).toStrictEqual([]);
    expect(await queueCounts(plane)).toStrictEqual({ queued: 0, leased: 0 });
  });

  async function replaceKilledWorker(): Promise<void> {
    worker.process.kill('SIGKILL');
    await worker.process.exited;
    worker = await plane.startWorker({ concurrency: 1 });
  }

  it('with a key, ended before its worker was killed, is not run again by the parent that is', async () => {
    const held = holdRun(plane, 'ended', { firstOnly: true, holdAfter: true });
    const child = runOnce(plane, 'ended-child');
    const args = { ...held.args, tool: 'scenario.write', args: child, key: 'once' };
    const calling = callFor(plane, session, 'scenario.nestAgain', args);
    await untilMarks(plane, 'S', 'ended');
    await replaceKilledWorker();
    expect(await calling).toMatchObject({ kind: 'ok', structured: { kind: 'ok', structured: { fence: 1 } } });
    expect(marksOf(plane, 'N', 'ended').map(({ fence }) => fence)).toStrictEqual([1, 2]);
    expect(marksOf(plane, 'S', 'ended-child')).toHaveLength(1);
  });

  it('with a key, running when its worker was killed, is recovered beside its parent', async () => {
    const child = holdRun(plane, 'running-child', { firstOnly: true });
    const args = nesting('running-parent', 'scenario.read', child.args, { key: 'once' });
    const calling = callFor(plane, session, 'scenario.nestAgain', args);
    await untilMarks(plane, 'S', 'running-child');
    await replaceKilledWorker();
    expect(await calling).toMatchObject({ kind: 'ok', structured: { kind: 'ok', structured: { fence: 2 } } });
    expect(marksOf(plane, 'S', 'running-child').map(({ fence }) => fence)).toStrictEqual([1, 2]);
  });

  it('made by a draining worker is run by another one, and the parent ends well', async () => {
    const parent = holdRun(plane, 'draining-parent');
    const args = { ...parent.args, tool: 'scenario.write', args: runOnce(plane, 'draining-child') };
    const calling = callFor(plane, session, 'scenario.nest', args);
    await untilMarks(plane, 'S', 'draining-parent');
    const other = await plane.startWorker();
    worker.process.kill('SIGTERM');
    await untilDraining(plane, worker.workerId);
    parent.release();
    expect(await calling).toMatchObject({ kind: 'ok', structured: { kind: 'ok' } });
    expect((await worker.process.exited).code).toBe(0);
    worker = other;
  });

  it('made by a draining worker that is the only one is run by it, and the parent ends well', async () => {
    await worker.process.stop();
    const only = await plane.startWorker({ graceMs: 60_000 });
    const parent = holdRun(plane, 'last-parent');
    const args = { ...parent.args, tool: 'scenario.write', args: runOnce(plane, 'last-child') };
    const calling = callFor(plane, session, 'scenario.nest', args);
    await untilMarks(plane, 'S', 'last-parent');
    only.process.kill('SIGTERM');
    await untilDraining(plane, only.workerId);
    // By now the worker's last read, which waits up to a second, has come back.
    await untilStoreTime(plane, 1500);
    parent.release();
    expect(await calling).toMatchObject({ kind: 'ok', structured: { kind: 'ok' } });
  });
});
