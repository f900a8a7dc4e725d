import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partialStore,
  sampleDelivered,
  sampleDelivery,
  sampleLane,
  sampleServedTool,
  SILENT_LOG,
} from '../../test/support/sample-call.ts';
import type { ApprovalId } from '../domain/policy/approval.ts';
import { runClaimed } from '../data-path.ts';
import { attemptIdOf } from '../domain/call/attempt-id.ts';
import { ENVELOPE_VERSION, type Envelope } from '../domain/call/call.ts';
import { NO_WRITE_BACKS } from '../domain/outcome/content.ts';
import type { DiagnosticEvent } from '../domain/events/diagnostic-event.ts';
import { ended } from '../domain/call/ending.ts';
import { planeError, errorOutcome } from '../domain/errors/errors.ts';
import type { Policy } from '../domain/policy/policy.ts';
import type { ToolDeclaration } from '../domain/tool/tool.ts';
import { createEventBus } from '../observe/event-bus.ts';
import type { Delivery } from '../domain/ports/call-requests.ts';
import type { EventBus } from '../domain/ports/events.ts';
import type { Plane } from '../domain/ports/plane.ts';
import type { Store } from '../domain/ports/store.ts';
import type { RunEnding, RunRequest } from '../domain/ports/tool-runner.ts';
import { encodeEnvelope } from '../domain/call/envelope.ts';
import { emitterOf } from './call-emitter.ts';

const OPEN: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };
const CLOSED: Policy = { roles: {}, permissions: {}, paused: {} };
const RETURNED: RunEnding = { kind: 'returned', result: { value: { done: true } }, writeBacks: NO_WRITE_BACKS };
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN_ID = 'b7ad6b7169203331';

interface Scene {
  readonly delivery?: Partial<Delivery>;
  readonly envelope?: Partial<Envelope>;
  readonly tool?: Partial<ToolDeclaration>;
  readonly policy?: Policy;
  readonly store?: Partial<Store>;
  readonly run?: (request: RunRequest, stop: (why: string) => void) => RunEnding;
}

describe('the data path emits', () => {
  let bus: EventBus;
  let heard: DiagnosticEvent[];
  let runs: RunRequest[];
  beforeEach(() => {
    heard = [];
    runs = [];
    bus = createEventBus();
    bus.subscribe((event) => heard.push(event));
  });
  afterEach(() => bus.close());

  const kinds = (): string[] => heard.map(({ kind }) => kind);
  const find = (kind: string): object | undefined => heard.find((event) => event.kind === kind);

  async function run(scene: Scene = {}, events = bus): Promise<Delivery> {
    const plain = sampleDelivery(scene.delivery);
    const envelope = encodeEnvelope({
      version: ENVELOPE_VERSION,
      session: plain.session,
      run: plain.run,
      tool: plain.tool,
      toolDigest: 'digest-of-add',
      arguments: '{}',
      key: 'k',
      depth: 0,
      ...scene.envelope,
    });
    const delivery = scene.envelope === undefined ? plain : { ...plain, envelope };
    const stopping = new AbortController();
    const runner = {
      run: (request: RunRequest): RunEnding => {
        runs.push(request);
        return scene.run?.(request, (why) => stopping.abort(why)) ?? RETURNED;
      },
      close: async () => undefined,
    };
    const tool = sampleServedTool(scene.tool);
    const plane = {
      store: partialStore({ settleCall: async () => 'settled', ...scene.store }),
      log: SILENT_LOG,
      events,
      runners: { inline: runner, process: runner },
      policies: { atLeast: (version: number) => ({ version, policy: scene.policy ?? OPEN }) },
      tools: () => ({ find: () => tool, near: () => [] }),
      peersFor: async () => ({ serving: 1, notServing: 1 }),
      holdWithoutSlot: async () => undefined,
      onSettled: () => undefined,
      settings: { retentionMs: 60_000, trustSnapshotMs: 250 },
    } as unknown as Plane;
    const lane = sampleLane();
    const emitter = emitterOf(events, delivery, lane, performance.now());
    await runClaimed(sampleDelivered(delivery, { lane, events: emitter, signal: stopping.signal }), plane);
    await events.close();
    return delivery;
  }

  it('of a call that ends well, stage by stage, each time whose it is', async () => {
    const delivery = await run({ delivery: { acceptedAt: 990 } });
    expect(kinds()).toStrictEqual([
      'call.admitted',
      'call.identified',
      'tool.started',
      'tool.completed',
      'call.settled',
    ]);
    expect(heard.map(({ stage }) => stage)).toStrictEqual(['admit', 'identify', 'execute', 'execute', 'settle']);
    for (const event of heard) {
      expect(event).toMatchObject({
        callId: delivery.callId,
        attemptId: attemptIdOf(delivery),
        tool: 'notes.add',
        agent: 'main',
        tenant: 'default',
        session: delivery.session,
        run: delivery.run,
      });
      expect(event).not.toHaveProperty('subject');
    }
    expect(find('call.admitted')).toMatchObject({ fence: 1, recovered: false, waitedMs: 10 });
    expect(find('tool.started')).toMatchObject({
      parameters: { kind: 'object', bytes: 2 },
      runner: 'inline',
      effect: 'read',
    });
    expect(find('tool.completed')).toMatchObject({ durationMs: expect.any(Number) as number });
    expect(find('call.settled')).toMatchObject({ outcome: 'ok', executed: 'yes' });
    expect(find('call.settled')).not.toHaveProperty('error');
  });

  it.each<[string, RunEnding, object]>([
    [
      'throws',
      { kind: 'threw', isStarted: true, type: 'Secret', cause: 'secret' },
      { category: 'internal', retryable: false, code: 'TOOL_THREW' },
    ],
    [
      'throws what shows a status',
      { kind: 'threw', isStarted: true, type: 'E', cause: '', fault: { category: 'rate_limited', status: 429 } },
      { category: 'rate_limited', retryable: true, code: 'TOOL_THREW', status: 429 },
    ],
    [
      'says that it failed',
      { kind: 'refused', how: 'failed', message: 'secret', code: 'SECRET', writeBacks: NO_WRITE_BACKS },
      { category: 'reported', retryable: false, code: 'TOOL_FAILED' },
    ],
    [
      'returns a failure with a status',
      {
        kind: 'returned',
        result: { value: { success: false, status: 404, error: 'secret' } },
        writeBacks: NO_WRITE_BACKS,
      },
      { category: 'not_found', retryable: false, code: 'TOOL_FAILED', status: 404 },
    ],
    ['is out of time', { kind: 'timed-out' }, { category: 'timeout', retryable: true, code: 'TOOL_TIMED_OUT' }],
    ['crashes', { kind: 'crashed', how: 'SIGKILL' }, { category: 'crashed', retryable: false, code: 'TOOL_CRASHED' }],
    [
      'hands over too much',
      { kind: 'too-large', bytes: 9, limit: 1 },
      { category: 'invalid_result', retryable: false, code: 'RESULT_TOO_LARGE' },
    ],
  ])('of a tool that %s its end and its category, and nothing that it said', async (_how, ending, error) => {
    await run({ run: () => ending });
    expect(kinds().slice(2)).toStrictEqual(['tool.started', 'tool.failed', 'call.settled']);
    expect(find('tool.failed')).toMatchObject({ error, durationMs: expect.any(Number) as number });
    expect((find('tool.failed') as { error: object }).error).toStrictEqual(error);
    expect(JSON.stringify(heard).toLowerCase()).not.toContain('secret');
  });

  it('of a call that is refused where it was, and nothing of its tool', async () => {
    await run({ policy: CLOSED });
    expect(kinds()).toStrictEqual(['call.admitted', 'call.refused', 'call.settled']);
    expect(find('call.refused')).toMatchObject({
      stage: 'identify',
      outcome: 'denied',
      executed: 'no',
      error: { category: 'permission', code: 'PERMISSION_DENIED' },
    });
    expect(runs).toStrictEqual([]);
  });

  it('of a call that came too late', async () => {
    await run({ delivery: { deadline: 1 } });
    expect(kinds()).toStrictEqual(['call.refused', 'call.settled']);
    expect(find('call.refused')).toMatchObject({ stage: 'admit', error: { category: 'timeout' } });
  });

  it('of a call that is cancelled at its start mark', async () => {
    await run({ tool: { effect: 'unsafe' }, store: { startCall: async () => ({ kind: 'cancelled' }) } });
    expect(kinds().slice(2)).toStrictEqual(['call.refused', 'call.settled']);
    expect(find('call.refused')).toMatchObject({ stage: 'execute', executed: 'no', error: { category: 'cancelled' } });
  });

  it('of a call that was parked that it goes on', async () => {
    await run({
      delivery: { fence: 3, resumedWith: { approval: 'a' as ApprovalId, untouched: true } },
      store: { readApproval: async () => undefined },
    });
    expect(kinds().slice(0, 3)).toStrictEqual(['call.admitted', 'call.resumed', 'call.identified']);
    expect(find('call.resumed')).toMatchObject({ fence: 3, stage: 'admit' });
  });

  it.each<[string, Scene, string, string]>([
    [
      'at its start mark',
      { tool: { effect: 'unsafe' }, store: { startCall: async () => ({ kind: 'fenced' }) } },
      'call.lost',
      'execute',
    ],
    ['when it is settled', { store: { settleCall: async () => 'fenced' } }, 'call.lost', 'settle'],
    [
      'to a worker that serves it',
      { tool: { digest: 'other' }, store: { abandonCall: async () => 'abandoned' } },
      'call.abandoned',
      'identify',
    ],
  ])('of a call that goes to another %s', async (_when, scene, kind, stage) => {
    await run(scene);
    expect(find(kind)).toMatchObject({ stage });
    expect(kinds()).not.toContain('call.settled');
  });

  it.each([
    ['lost', 'call.lost'],
    ['draining', 'call.abandoned'],
  ])('of a tool that is stopped because its call is %s both its end and that', async (why, kind) => {
    await run({
      run: (_request, stop) => {
        stop(why);
        return { kind: 'aborted' };
      },
      store: { abandonCall: async () => 'abandoned' },
    });
    expect(kinds().slice(2)).toStrictEqual(['tool.started', 'tool.failed', kind]);
    expect(find('tool.failed')).toMatchObject({ error: { category: 'cancelled' } });
  });

  it('of a call the gate has stopped that it was blocked, and nothing else of its tool', async () => {
    const delivery = sampleDelivery();
    const emitter = emitterOf(bus, delivery, sampleLane(), performance.now())!;
    const outcome = errorOutcome('HOOK_BLOCKED', { hook: 'guard.x', reason: 'secret' });
    const ending = ended(outcome);
    emitter.passed('admit', { kind: 'admitted' });
    emitter.passed('identify', { kind: 'identified' });
    emitter.passed('gate', ending);
    emitter.passed('execute', ending);
    emitter.settled('settled', outcome);
    await bus.close();
    expect(kinds()).toStrictEqual(['call.admitted', 'call.identified', 'tool.blocked', 'call.settled']);
    expect(find('tool.blocked')).toMatchObject({
      stage: 'gate',
      outcome: 'blocked',
      executed: 'no',
      error: { category: 'blocked', code: 'HOOK_BLOCKED' },
    });
    expect(JSON.stringify(heard)).not.toContain('secret');
  });

  it('who blocked it once, where the gate says so itself', async () => {
    const emitter = emitterOf(bus, sampleDelivery(), sampleLane(), performance.now())!;
    const outcome = errorOutcome('HOOK_BLOCKED', { hook: 'guard.x', reason: 'x' });
    const error = { category: 'blocked', retryable: false } as const;
    emitter.emit('tool.blocked', { outcome: 'blocked', executed: 'no', error, by: 'rule', byId: 'no-shell' });
    emitter.passed('gate', ended(outcome));
    await bus.close();
    expect(heard).toMatchObject([{ kind: 'tool.blocked', by: 'rule', byId: 'no-shell' }]);
  });

  it('the kind of error of a call that leaves the path', async () => {
    const emitter = emitterOf(bus, sampleDelivery(), sampleLane(), performance.now())!;
    emitter.left(planeError('STORE_UNAVAILABLE', { problem: 'secret' }));
    await bus.close();
    expect(heard).toMatchObject([{ kind: 'call.left', error: { category: 'store', code: 'STORE_UNAVAILABLE' } }]);
    expect(JSON.stringify(heard)).not.toContain('secret');
  });

  it('nothing of a name that is none, nor of an identity that cannot be read', async () => {
    const delivery = sampleDelivery({ tool: 'say "secret"' as Delivery['tool'], identity: 'secret' });
    emitterOf(bus, delivery, sampleLane(), performance.now())!.passed('admit', { kind: 'admitted' });
    await bus.close();
    expect(heard[0]).toMatchObject({ kind: 'call.admitted', callId: delivery.callId });
    expect(JSON.stringify(heard)).not.toContain('secret');
  });

  describe('with a trace', () => {
    it('that is the one of the caller, with a span for each stage below that of the call', async () => {
      await run({ envelope: { trace: `00-${TRACE_ID}-${SPAN_ID}-01`, traceState: 'secret=1' } });
      const traces = heard.map(({ trace }) => trace!);
      expect(new Set(traces.map(({ traceId }) => traceId))).toStrictEqual(new Set([TRACE_ID]));
      expect(new Set(traces.map(({ parentSpanId }) => parentSpanId))).toStrictEqual(new Set([SPAN_ID]));
      const [admit, identify, started, completed, settle] = traces.map(({ spanId }) => spanId);
      expect(started).toBe(completed);
      expect(new Set([admit, identify, started, settle, SPAN_ID]).size).toBe(5);
      expect(runs[0]!.trace).toStrictEqual({ traceparent: `00-${TRACE_ID}-${started}-01`, tracestate: 'secret=1' });
      expect(Object.isFrozen(runs[0]!.trace)).toBe(true);
      expect(JSON.stringify(heard)).not.toContain('secret');
    });

    it.each([
      ['no trace', {}],
      ['a malformed one', { trace: '00-secret' }],
      ['one of zeros', { trace: `00-${'0'.repeat(32)}-${SPAN_ID}-01` }],
    ])('of its own where the call has %s', async (_what, envelope) => {
      await run({ envelope });
      const ids = new Set(heard.map(({ trace }) => trace!.traceId));
      expect(ids.size).toBe(1);
      expect([...ids][0]).toMatch(/^[0-9a-f]{32}$/);
      expect(runs[0]!.trace!.traceparent).toContain([...ids][0]);
    });

    it('that the tool gets unchanged without a listener', async () => {
      const silent = createEventBus();
      const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
      await run({ envelope: { trace: traceparent } }, silent);
      await run({ envelope: { trace: '00-secret' } }, silent);
      await run({}, silent);
      expect(runs[0]!.trace).toStrictEqual({ traceparent });
      expect(runs[1]!.trace!.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(runs[2]!.trace).toBeUndefined();
      expect(heard).toStrictEqual([]);
    });
  });
});
