import { describe, expect, it } from 'vitest';
import { NO_WRITE_BACKS } from '../../domain/outcome/content.ts';
import { ENVELOPE_VERSION } from '../../domain/call/call.ts';
import { CLOSED_POLICY } from '../../domain/policy/policy.ts';
import { DEFAULT_LIMITS, type ToolDeclaration } from '../../domain/tool/tool.ts';
import type { AbandonRequest, Delivery } from '../../domain/ports/call-requests.ts';
import type { NestedFrame } from '../../domain/ports/plane.ts';
import type { RunEnding, RunRequest } from '../../domain/ports/tool-runner.ts';
import type { WorkerStore } from '../../domain/ports/store.ts';
import {
  partialStore,
  SAMPLE_IDENTITY,
  sampleAdmitted,
  sampleDelivery,
  sampleServedTool,
  SILENT_LOG,
} from '../../../test/support/sample-call.ts';
import { execute } from './execute.ts';

const RETURNED: RunEnding = { kind: 'returned', result: { value: { done: true } }, writeBacks: NO_WRITE_BACKS };

interface Order {
  readonly tool?: Partial<ToolDeclaration>;
  readonly delivery?: Partial<Delivery>;
  readonly signal?: AbortSignal;
  readonly run?: (request: RunRequest) => Promise<RunEnding>;
  readonly store?: Partial<WorkerStore>;
  readonly nested?: (frame: NestedFrame) => void;
}

async function executed(order: Order) {
  const delivery = sampleDelivery(order.delivery);
  const runs: RunRequest[] = [];
  const given: AbandonRequest[] = [];
  const store = partialStore({
    abandonCall: async (request) => {
      given.push(request);
      return 'abandoned';
    },
    startCall: async () => ({ kind: 'started', starts: 1 }),
    ...order.store,
  });
  const runner = {
    run: (request: RunRequest) => {
      runs.push(request);
      return order.run?.(request) ?? Promise.resolve(RETURNED);
    },
    close: async () => undefined,
  };
  const call = {
    kind: 'identified',
    permission: '*',
    admitted: sampleAdmitted(delivery, {
      ...(order.signal === undefined ? {} : { signal: order.signal }),
      policy: CLOSED_POLICY,
    }),
    envelope: {
      version: ENVELOPE_VERSION,
      session: delivery.session,
      run: delivery.run,
      tool: delivery.tool,
      toolDigest: 'digest-of-add',
      arguments: '{}',
      key: 'k',
      depth: 2,
    },
    identity: SAMPLE_IDENTITY,
    tool: sampleServedTool(order.tool),
    arguments: {},
    canonical: '{}',
  } as const;
  const ending = await execute(
    { call },
    {
      store,
      settings: { retentionMs: 60_000, trustSnapshotMs: 60_000 },
      runners: { inline: runner, process: runner, 'process-per-call': runner },
      nested: async (_parent, frame) => {
        order.nested?.(frame);
        return { kind: 'ok', executed: 'yes', retryable: false, content: [] };
      },
      log: SILENT_LOG,
    },
  );
  return { ending, runs, given };
}

/** Aborts the call while its tool runs, as a lost lease, a cancellation or a drain of the worker would. */
function abortWhileRunning(reason: string): Pick<Order, 'signal' | 'run'> {
  const controller = new AbortController();
  return {
    signal: controller.signal,
    run: async () => {
      controller.abort(reason);
      return { kind: 'aborted' };
    },
  };
}

describe('execute', () => {
  describe.each(['read', 'idempotent', 'unsafe'] as const)(
    'of a call of a tool that is %s, aborted before',
    (effect) => {
      it('by a drain gives it back and runs nothing', async () => {
        const { ending, runs, given } = await executed({ tool: { effect }, signal: AbortSignal.abort('draining') });
        expect(ending).toEqual({ kind: 'handed-back' });
        expect(given).toMatchObject([{ handedBack: false }]);
        expect(runs).toEqual([]);
      });

      it('by a cancellation ends it as cancelled, with the word that nothing ran', async () => {
        const { ending, runs, given } = await executed({ tool: { effect }, signal: AbortSignal.abort('cancelled') });
        expect(ending).toMatchObject({ kind: 'ended', outcome: { kind: 'cancelled', executed: 'no' } });
        expect([runs, given]).toEqual([[], []]);
      });

      it('by the loss of its lease leaves it alone', async () => {
        const { ending, runs, given } = await executed({ tool: { effect }, signal: AbortSignal.abort('lost') });
        expect(ending).toEqual({ kind: 'lost' });
        expect([runs, given]).toEqual([[], []]);
      });
    },
  );

  it.each([
    ['draining', 'read', { kind: 'handed-back' }],
    ['draining', 'unsafe', { kind: 'ended', outcome: { kind: 'indeterminate', executed: 'unknown' } }],
    ['cancelled', 'read', { kind: 'ended', outcome: { kind: 'cancelled', executed: 'unknown' } }],
    ['lost', 'unsafe', { kind: 'lost' }],
  ] as const)('of a run that is stopped (%s, %s) ends accordingly', async (reason, effect, expected) => {
    expect((await executed({ tool: { effect }, ...abortWhileRunning(reason) })).ending).toMatchObject(expected);
  });

  it('keeps the answer of a tool that was asked to stop', async () => {
    const controller = new AbortController();
    const run = async (): Promise<RunEnding> => {
      controller.abort('draining');
      return RETURNED;
    };
    const { ending } = await executed({ signal: controller.signal, run });
    expect(ending).toMatchObject({ kind: 'ended', outcome: { kind: 'ok', executed: 'yes' } });
  });

  it('says of arguments that the tool itself refused that nothing ran', async () => {
    const run = async (): Promise<RunEnding> => ({ kind: 'invalid-arguments', problems: ['n: must be above 5'] });
    expect((await executed({ tool: { effect: 'unsafe' }, run })).ending).toMatchObject({
      kind: 'ended',
      outcome: { kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_INVALID' } },
    });
  });

  it('gives the run what is left: the smaller of timeout and deadline', async () => {
    const limits = { ...DEFAULT_LIMITS, timeoutMs: 700 };
    expect((await executed({ tool: { limits } })).runs[0]!.timeoutMs).toBe(700);
    const soon = await executed({ tool: { limits }, delivery: { deadline: 1300.4 } });
    expect(soon.runs[0]!.timeoutMs).toBe(300);
  });

  it('gives a nested call the time that is left and the signal of the run, one level deeper', async () => {
    const frames: NestedFrame[] = [];
    const ending = new AbortController();
    await executed({
      tool: { limits: { ...DEFAULT_LIMITS, timeoutMs: 700 } },
      nested: (frame) => frames.push(frame),
      run: async ({ onNestedCall }) => {
        await onNestedCall({ tool: sampleDelivery().tool, arguments: {} }, ending.signal);
        return RETURNED;
      },
    });
    expect(frames).toMatchObject([{ depth: 3 }]);
    expect(frames[0]!.signal).toBe(ending.signal);
    expect(frames[0]!.timeLeftMs).toBeLessThanOrEqual(700);
  });
});
