import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { Client, DiagnosticEvent, EventKind, SessionHandle } from '../../src/exports/client.ts';
import { startWorker, type RunningWorker } from '../../src/exports/worker.ts';
import { eventually } from '../support/process.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/events-plane/modules', import.meta.url));
/** Two calls at a time, so that a tool in a process can call another tool. */
const CONCURRENCY = 2;
const SUBJECT = 'subject-ada';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';
const ENDINGS = [
  'returned',
  'text',
  'reported',
  'failure',
  'denied',
  'thrown',
  'named',
  'network',
  'proxy',
  'getters',
  'plain',
  'unserialisable',
] as const;

/** A worker and a client in this process, each with a listener, on a real store. */
describe.each(BACKENDS)('diagnostic events on %s', (backend) => {
  let plane: StagedPlane;
  let worker: RunningWorker;
  let client: Client;
  let session: SessionHandle;
  const told: DiagnosticEvent[] = [];
  beforeAll(async () => {
    plane = await stagePlane(backend);
    const onEvent = (event: DiagnosticEvent): void => void told.push(event);
    worker = await startWorker({
      ...plane.storeOptions,
      modules: MODULES,
      concurrency: CONCURRENCY,
      health: false,
      log: SILENT_LOG,
      onEvent,
    });
    client = await plane.connect({ onEvent });
    session = await client.openSession({ tenant: 'acme', subject: SUBJECT, agent: 'main' });
  });
  afterEach(() => told.splice(0));
  afterAll(async () => {
    await worker.drain();
    await plane.stop();
  });

  const of = (callId: string): DiagnosticEvent[] => told.filter((event) => event.callId === callId);
  const kindsOf = (events: readonly DiagnosticEvent[]): EventKind[] => events.map(({ kind }) => kind);

  /** The events of one call, all of them. */
  async function call(tool: string, args: JsonObject, options = {}) {
    const answer = await client.call(session, tool, args, { waitMs: 60_000, ...options });
    if (answer.kind !== 'settled') throw new Error(`the call is ${answer.kind}`);
    const { callId, outcome } = answer;
    const isAll = (): boolean =>
      ['call.settled', 'call.answered'].every((kind) => of(callId).some((event) => event.kind === kind));
    await eventually(isAll, { what: `the last events of ${callId}` });
    return { outcome, callId, events: of(callId).sort((a, b) => a.seq - b.seq) };
  }

  it.each(['near', 'apart'])('of a call of %s show its path from caller to caller, in order', async (module) => {
    const { events } = await call(`${module}.end`, { how: 'returned', secret: 'x' });
    const byWorker = kindsOf(events.filter(({ attemptId }) => attemptId !== undefined));
    expect(byWorker).toStrictEqual([
      'call.admitted',
      'call.identified',
      'tool.started',
      'tool.completed',
      'call.settled',
    ]);
    const byCaller = kindsOf(events.filter(({ attemptId }) => attemptId === undefined));
    expect(byCaller).toStrictEqual(['call.accepted', 'call.answered']);
    expect(events.every(({ tool, run }) => tool === `${module}.end` && run === session.run)).toBe(true);
    const started = events.find(({ kind }) => kind === 'tool.started');
    const bytes = JSON.stringify({ how: 'returned', secret: 'x' }).length;
    expect(started).toMatchObject({
      agent: 'main',
      tenant: 'acme',
      runner: module === 'near' ? 'inline' : 'process',
      parameters: { kind: 'object', bytes },
    });
    expect(events.find(({ kind }) => kind === 'call.accepted')).toMatchObject({
      parameters: { kind: 'object', bytes },
    });
  });

  it.each(['near', 'apart'])('of tools of %s that end badly have a category and a status', async (module) => {
    const errorOf = async (how: string) => {
      const { events } = await call(`${module}.end`, { how, secret: 'sk-live-4711' });
      const failed = events.find((event) => event.kind === 'tool.failed')!;
      return (failed as { error: object }).error;
    };
    expect(await errorOf('failure')).toStrictEqual({
      category: 'rate_limited',
      retryable: true,
      code: 'TOOL_FAILED',
      status: 429,
    });
    expect(await errorOf('thrown')).toStrictEqual({
      category: 'upstream_5xx',
      retryable: true,
      code: 'TOOL_THREW',
      status: 503,
    });
    expect(await errorOf('reported')).toStrictEqual({
      category: 'not_found',
      retryable: false,
      code: 'TOOL_FAILED',
      status: 404,
    });
    expect(await errorOf('network')).toStrictEqual({ category: 'network', retryable: true, code: 'TOOL_THREW' });
    for (const how of ['named', 'proxy', 'getters', 'plain']) {
      expect(await errorOf(how)).toStrictEqual({ category: 'internal', retryable: false, code: 'TOOL_THREW' });
    }
    expect(await errorOf('denied')).toStrictEqual({ category: 'permission', retryable: false, code: 'TOOL_DENIED' });
    expect(await errorOf('unserialisable')).toMatchObject({ category: 'invalid_result' });
  });

  it('of a call that may not be made say so, and nothing of its tool', async () => {
    await plane.setPolicy({ ...OPEN_POLICY, permissions: {} });
    const { events } = await call('near.trace', {});
    await plane.setPolicy(OPEN_POLICY);
    expect(kindsOf(events).filter((kind) => kind.startsWith('tool.'))).toStrictEqual([]);
    expect(events.find(({ kind }) => kind === 'call.refused')).toMatchObject({
      stage: 'identify',
      error: { category: 'permission' },
    });
  });

  it('of a call that is refused at the door, repeated, or in conflict', async () => {
    await client.call(session, 'near.nothing', {});
    await client.call(session, 'near.trace', {}, { deadlineMs: -1 });
    const { callId } = await call('near.trace', {}, { key: 'again' });
    await client.call(session, 'near.trace', {}, { key: 'again' });
    await client.call(session, 'near.end', { how: 'text', secret: 'x' }, { key: 'again' });
    await eventually(() => told.filter(({ kind }) => kind === 'call.refused').length === 3, { what: 'refusals' });
    const refused = told.filter(({ kind }) => kind === 'call.refused');
    expect(refused.map((event) => ('error' in event ? event.error!.code : undefined))).toStrictEqual([
      'TOOL_UNKNOWN',
      'DEADLINE_INVALID',
      'KEY_CONFLICT',
    ]);
    expect(refused.map(({ tool }) => tool)).toStrictEqual([undefined, 'near.trace', 'near.end']);
    expect(kindsOf(of(callId))).toContain('call.replayed');
  });

  it('of a call that is cancelled, and of its tool that was stopped', async () => {
    const controller = new AbortController();
    const calling = client.call(session, 'near.wait', {}, { signal: controller.signal, waitMs: 60_000 });
    await eventually(() => told.some(({ kind }) => kind === 'tool.started'), { what: 'the start' });
    controller.abort();
    await calling;
    // The call ended in the store; its worker learns that it no longer owns the call.
    await eventually(() => told.some(({ kind }) => kind === 'call.lost'), { what: 'the end' });
    expect(told.find(({ kind }) => kind === 'call.cancelled')).toMatchObject({
      session: session.id,
      answer: 'cancelled',
    });
    expect(told.find(({ kind }) => kind === 'tool.failed')).toMatchObject({ error: { category: 'cancelled' } });
  });

  it('of a call that no worker took in time', async () => {
    const controller = new AbortController();
    const busy = Array.from({ length: CONCURRENCY }, () =>
      client.call(session, 'near.wait', {}, { signal: controller.signal, waitMs: 60_000 }),
    );
    await eventually(() => told.filter(({ kind }) => kind === 'tool.started').length === CONCURRENCY, {
      what: 'starts',
    });
    const late = await client.call(session, 'near.trace', {}, { deadlineMs: 50, waitMs: 60_000 });
    expect(late).toMatchObject({ kind: 'settled', outcome: { kind: 'expired', executed: 'no' } });
    const { callId } = late as { callId: string };
    await eventually(() => of(callId).some(({ kind }) => kind === 'call.expired'), { what: 'the expiry' });
    expect(of(callId).find(({ kind }) => kind === 'call.expired')).toMatchObject({ overdue: false });
    expect(kindsOf(of(callId))).not.toContain('call.admitted');
    controller.abort();
    await Promise.all(busy);
  });

  it.each(['near', 'apart'])(
    'have the trace of the caller, which reaches the tools of %s and what they call',
    async (module) => {
      const trace = `00-${TRACE_ID}-${SPAN_ID}-01`;
      const { outcome, events } = await call(
        `${module}.relay`,
        { tool: `${module}.trace`, arguments: {} },
        { trace, traceState: 'congo=t61' },
      );
      const { inner, own } = outcome.structured as {
        inner: { traceparent: string; tracestate: string; frozen: boolean };
        own: string;
      };
      expect(new Set(events.map((event) => event.trace!.traceId))).toStrictEqual(new Set([TRACE_ID]));
      const accepted = events.find(({ kind }) => kind === 'call.accepted')!;
      expect(accepted.trace).toMatchObject({ parentSpanId: SPAN_ID, sampled: true });
      const started = events.find(({ kind }) => kind === 'tool.started')!;
      expect(started.trace!.parentSpanId).toBe(accepted.trace!.spanId);
      expect(own).toBe(`00-${TRACE_ID}-${started.trace!.spanId}-01`);
      const nested = told.find((event) => event.kind === 'call.accepted' && event.parent !== undefined)!;
      expect(nested.trace).toMatchObject({ traceId: TRACE_ID, parentSpanId: started.trace!.spanId });
      const nestedStart = of(nested.callId!).find(({ kind }) => kind === 'tool.started')!;
      expect(inner).toStrictEqual({
        frozen: true,
        traceparent: `00-${TRACE_ID}-${nestedStart.trace!.spanId}-01`,
        tracestate: 'congo=t61',
      });
    },
  );

  it('begin a new trace where the given one is malformed', async () => {
    const { outcome, events } = await call(
      'near.trace',
      {},
      { trace: `00-${'0'.repeat(32)}-${SPAN_ID}-01`, traceState: 'a=1' },
    );
    const ids = new Set(events.map((event) => event.trace!.traceId));
    expect(ids.size).toBe(1);
    expect([...ids][0]).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
    expect((outcome.structured as { traceparent: string }).traceparent).toContain([...ids][0]);
    expect(outcome.structured).not.toHaveProperty('tracestate');
  });

  it('are lost only to a slow listener, which gets their number', async () => {
    let release!: () => void;
    const busy = new Promise<void>((resolve) => (release = resolve));
    const slow: DiagnosticEvent[] = [];
    const stop = worker.events.subscribe({
      kinds: ['tool.*'],
      maxWaiting: 3,
      listener: (event) => {
        slow.push(event);
        return busy;
      },
    });
    for (let each = 0; each < 10; each += 1) await call('near.trace', {});
    const quick = told.filter(({ kind }) => kind.startsWith('tool.'));
    expect(quick).toHaveLength(20);
    release();
    await eventually(() => slow.some(({ kind }) => kind === 'events.lost'), { what: 'the loss' });
    stop();
    const lost = slow.flatMap((event) => (event.kind === 'events.lost' ? [event.lost] : []));
    expect(slow.length - lost.length + lost[0]!).toBe(20);
    expect(slow.slice(0, 4)).toStrictEqual(quick.slice(0, 4));
  });

  it('contain no value that went through the plane', async () => {
    const secret = fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' }).map((text) => `§${text}`);
    const anywhere = fc.record({
      secret,
      how: fc.constantFrom(...ENDINGS),
      module: fc.constantFrom('near', 'apart'),
      relayed: fc.boolean(),
      wrong: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(anywhere, async ({ secret: hidden, how, module, relayed, wrong }) => {
        told.splice(0);
        const args: JsonObject = wrong ? { [hidden]: hidden, secret: 7 } : { secret: hidden, how };
        const tool = relayed ? `${module}.relay` : `${module}.end`;
        const sent = relayed ? { tool: `${module}.end`, arguments: args } : args;
        const options = {
          untrusted: { [hidden]: hidden },
          key: Buffer.from(hidden).toString('base64url') + Math.random(),
          traceState: `a=${Buffer.from(hidden).toString('hex')}`,
          trace: `00-${TRACE_ID}-${SPAN_ID}-01`,
        };
        await call(tool, sent, options);
        await client.call(session, `${hidden}.tool`, sent);
        await client.call(session, tool, sent, { key: hidden });
        const all = JSON.stringify(told);
        const forms = [
          hidden,
          hidden.slice(1),
          JSON.stringify(hidden).slice(1, -1),
          ...['base64url', 'hex'].map((form) => Buffer.from(hidden).toString(form as 'hex')),
        ];
        expect(forms.filter((form) => all.includes(form))).toStrictEqual([]);
        expect(all).not.toContain(session.token);
        expect(all).not.toContain(SUBJECT);
        // At least the events of the first call were searched. Events of the refused calls may come later.
        expect(kindsOf(told)).toContain('call.settled');
      }),
      { numRuns: 60 },
    );
  });
});
