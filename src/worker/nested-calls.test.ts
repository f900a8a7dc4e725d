import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../domain/outcome/outcome.ts';
import { createEventBus } from '../observe/event-bus.ts';
import type { AcceptRequest, CancelRequest, Delivery, TakenReply } from '../domain/ports/call-requests.ts';
import type { NestedFrame } from '../domain/ports/plane.ts';
import type { Store } from '../domain/ports/store.ts';
import type { NestedCallRequest } from '../domain/ports/tool-runner.ts';
import { encodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import {
  deferred,
  partialStore,
  sampleCatalog,
  sampleDelivery,
  samplePublished,
  type Deferred,
} from '../../test/support/sample-call.ts';
import { createNestedCalls, type NestedCalls } from './nested-calls.ts';
import { createSlots } from './slots.ts';

const TOOL = samplePublished();
const OK: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [] };
const ADMISSION = { liveCalls: 100, liveBytes: 1e6, retainedBytes: 1e6, subjectWindow: 64, subjectBacklog: 100 };
const NEVER = new AbortController().signal;

function frame(overrides: Partial<NestedFrame> = {}): NestedFrame {
  return { depth: 1, timeLeftMs: 30_000, signal: NEVER, ...overrides };
}

/** Nested calls of a worker with ten slots, all of them taken. A nested call stays under way until the test calls `settle` for it. */
function stage(methods: Partial<Store> = {}) {
  const slots = createSlots(10);
  for (let slot = 0; slot < 10; slot += 1) slots.retake();
  const accepted: AcceptRequest[] = [];
  const cancelled: CancelRequest[] = [];
  let replies: TakenReply[] = [];
  let wake: Deferred<void> = deferred();
  const store = partialStore({
    watchCatalog: async ({ after }) => (after < 1 ? sampleCatalog(1, TOOL) : undefined),
    acceptCall: async (request) => {
      accepted.push(request);
      return { kind: 'accepted', callId: request.callId };
    },
    cancelCall: async (request) => {
      cancelled.push(request);
      return 'cancelled';
    },
    takeReplies: async () => {
      if (replies.length === 0) await wake.promise;
      const taken = replies;
      replies = [];
      return taken;
    },
    readCall: async () => undefined,
    checkIncarnation: async () => undefined,
    ...methods,
  });
  const limiter = { lend: () => () => undefined };
  const nested = createNestedCalls({
    store,
    nestedSlots: slots,
    limiter,
    admission: ADMISSION,
    retentionMs: 60_000,
    events: createEventBus(),
  });
  const request: NestedCallRequest = { tool: TOOL.tool.id, arguments: {} };
  return {
    slots,
    nested,
    accepted,
    cancelled,
    run: (parent: Delivery, more: Partial<NestedFrame> = {}, asked: Partial<NestedCallRequest> = {}) =>
      nested.run(parent, frame(more), { ...request, ...asked }),
    settle: async (index: number): Promise<void> => {
      const { correlationId } = accepted[index]!.waiter!;
      replies.push({
        replyId: `${index}-0`,
        items: [{ kind: 'settled', correlationId, outcome: encodeOutcome(OK) }],
      });
      const woken = wake;
      wake = deferred();
      woken.resolve();
      await settled();
    },
  };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('nested calls', () => {
  const open: NestedCalls[] = [];
  const begin = (methods?: Partial<Store>): ReturnType<typeof stage> => {
    const staged = stage(methods);
    open.push(staged.nested);
    return staged;
  };
  afterEach(() => {
    for (const nested of open.splice(0)) nested.close();
  });

  it('of one parent lend one slot, however many they are', async () => {
    const { slots, run, settle } = begin();
    const parent = sampleDelivery();
    const calls = Array.from({ length: 5 }, () => run(parent));
    await settled();
    expect(slots.free).toBe(1);
    for (let index = 0; index < 4; index += 1) await settle(index);
    expect(slots.free).toBe(1);
    await settle(4);
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 5 }, () => OK));
    expect(slots.free).toBe(0);
  });

  it('of two parents, and of two leases of one call, lend a slot each', async () => {
    const { slots, run } = begin();
    const parent = sampleDelivery();
    for (const each of [parent, { ...parent, fence: 2 }, sampleDelivery()]) void run(each).catch(() => undefined);
    await settled();
    expect(slots.free).toBe(3);
  });

  it('one after another lend the slot again each time', async () => {
    const { slots, run, settle } = begin();
    const parent = sampleDelivery();
    for (let index = 0; index < 3; index += 1) {
      const calling = run(parent);
      await settled();
      expect(slots.free).toBe(1);
      await settle(index);
      await calling;
      expect(slots.free).toBe(0);
    }
  });

  it('have no later deadline than what is left to their parent', async () => {
    const { accepted, run } = begin();
    const parent = sampleDelivery();
    for (const [timeLeftMs, deadlineMs] of [
      [400, undefined],
      [400, 9000],
      [400, 100],
      [-5, undefined],
    ] as const) {
      void run(parent, { timeLeftMs }, deadlineMs === undefined ? {} : { deadlineMs }).catch(() => undefined);
    }
    await settled();
    expect(accepted.map(({ deadlineMs }) => deadlineMs)).toEqual([400, 400, 100, 1]);
  });

  it('are cancelled when the run of their parent ends, also if it had ended before they were accepted', async () => {
    const { accepted, cancelled, run } = begin();
    const ending = new AbortController();
    void run(sampleDelivery(), { signal: ending.signal }).catch(() => undefined);
    void run(sampleDelivery(), { signal: AbortSignal.abort() }).catch(() => undefined);
    await settled();
    expect(cancelled.map(({ callId }) => callId)).toEqual([accepted[1]!.callId]);
    ending.abort();
    expect(cancelled.map(({ callId }) => callId)).toEqual([accepted[1]!.callId, accepted[0]!.callId]);
  });

  it('notify the listener that their parent waits', async () => {
    const { nested, run } = begin();
    const [parent, other] = [sampleDelivery(), sampleDelivery()];
    const heard: string[] = [];
    nested.onWait(parent, () => heard.push('parent'));
    const forget = nested.onWait(other, () => heard.push('other'));
    forget();
    void run(parent).catch(() => undefined);
    void run(other).catch(() => undefined);
    await settled();
    expect(heard).toEqual(['parent']);
  });

  it.each([
    ['refused', async () => ({ kind: 'overloaded', what: 'calls', retryAfterMs: 1000 }) as const],
    ['lost on the way', () => Promise.reject(new Error('the store did not answer'))],
  ])('that are %s give the slot back', async (_how, acceptCall) => {
    const { slots, run } = begin({ acceptCall });
    const ended = await run(sampleDelivery()).then(
      ({ kind }) => kind,
      (error: Error) => error.message,
    );
    expect(['overloaded', 'the store did not answer']).toContain(ended);
    expect(slots.free).toBe(0);
  });
});
