import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ToolId } from '../../domain/identity/ids.ts';
import type { ApprovalId } from '../../domain/policy/approval.ts';
import { planeError, errorOutcome } from '../../domain/errors/errors.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { Delivery, RecoveredCall, SettleAnswer, SettleRequest } from '../../domain/ports/call-requests.ts';
import type { ServedTool, ServedTools } from '../../domain/ports/plane.ts';
import type { Redactor } from '../../domain/ports/redactor.ts';
import { readAuditDetail } from '../../domain/audit/audit-detail.ts';
import { encodeEnvelope } from '../../domain/call/envelope.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import {
  partialStore,
  sampleDelivered,
  sampleDelivery,
  sampleServedTool,
  SILENT_LOG,
} from '../../../test/support/sample-call.ts';
import type { SettlementFacts } from './encode-audit.ts';
import { roundDuration, settleOutcome } from './settle-outcome.ts';

const OK: Outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [] };
const SETTINGS = { retentionMs: 60_000, trustSnapshotMs: 250 };

interface Order {
  readonly outcome?: Outcome;
  readonly facts?: SettlementFacts;
  readonly recovered?: RecoveredCall;
  readonly delivery?: Partial<Delivery>;
  readonly signal?: AbortSignal;
  readonly answers?: (SettleAnswer | Error)[];
  readonly redactor?: Redactor;
  /** The tools of this worker; none by default. */
  readonly served?: readonly ServedTool[];
}

const servedTools =
  (served: readonly ServedTool[] = []) =>
  (): ServedTools => ({ find: (id) => served.find(({ declaration }) => declaration.id === id), near: () => [] });

/** Settles with a store that gives these answers one after the other, and after that repeats the last one. */
function settling(order: Order = {}) {
  const { outcome = OK, facts = {}, recovered, signal, answers = ['settled'], redactor } = order;
  const tools = servedTools(order.served);
  const redacting = redactor === undefined ? {} : { redactor };
  const requests: SettleRequest[] = [];
  const store = partialStore({
    settleCall: async (request) => {
      requests.push(request);
      const answer = answers[Math.min(requests.length, answers.length) - 1]!;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const delivery = sampleDelivery(order.delivery ?? (recovered === undefined ? {} : { fence: 2, recovered }));
  const delivered = sampleDelivered(delivery, signal === undefined ? {} : { signal });
  const done = settleOutcome(delivered, outcome, facts, {
    store,
    settings: SETTINGS,
    log: SILENT_LOG,
    tools,
    ...redacting,
  });
  done.catch(() => undefined);
  return { done, requests };
}

const written = (requests: SettleRequest[]): Outcome => decodeOutcome(requests.at(-1)!.outcome);

describe('settle', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each([
    planeError('STORE_FULL', { problem: 'NOREPLICAS' }),
    planeError('STORE_UNAVAILABLE', { problem: 'gone' }),
    planeError('STORE_FAILED', { problem: 'ERR' }),
  ])('tries again until the store takes a known outcome: $code', async (refused) => {
    const { done, requests } = settling({ answers: [...Array.from({ length: 20 }, () => refused), 'settled'] });
    await vi.advanceTimersByTimeAsync(60_000);
    expect((await done).answer).toBe('settled');
    expect(requests).toHaveLength(21);
    expect(new Set(requests.map(({ fence }) => fence))).toEqual(new Set([1]));
  });

  it('remembers for loop detection the tool’s own result and its cost, independent of hooks', async () => {
    const writeBacks = { files: [], messages: [], injectedTools: [], cost: 2 };
    const own: Outcome = { ...OK, structured: { page: 1 }, writeBacks };
    const withheld = errorOutcome(
      'HOOK_RESULT_WITHHELD',
      { tool: 'notes.add', hook: 'guard.mask' },
      { executed: 'yes' },
    );
    const replaced: Outcome = { ...OK, structured: { page: '***' } };
    const [attempt] = settling({ outcome: own }).requests.map((request) => request.attempt);
    expect(attempt).toMatchObject({ ending: 'ok', cost: 2_000_000 });
    for (const outcome of [withheld, replaced]) {
      const { requests } = settling({ outcome, facts: { reviewed: { own } } });
      expect(requests[0]!.attempt).toEqual({ ...attempt, session: requests[0]!.attempt!.session });
      expect(decodeOutcome(requests[0]!.outcome)).toEqual(outcome);
    }
  });

  it('stops trying when another worker owns the call', async () => {
    const { done } = settling({ answers: [planeError('STORE_FULL', { problem: 'x' }), 'fenced'] });
    await vi.advanceTimersByTimeAsync(1000);
    expect((await done).answer).toBe('fenced');
  });

  it.each(['lost', 'draining'])('stops trying when the call is %s', async (reason) => {
    const controller = new AbortController();
    const refused = planeError('STORE_UNAVAILABLE', { problem: 'gone' });
    const { done, requests } = settling({ answers: [refused], signal: controller.signal });
    await vi.advanceTimersByTimeAsync(1000);
    controller.abort(reason);
    await vi.advanceTimersByTimeAsync(1000);
    await expect(done).rejects.toBe(refused);
    const tried = requests.length;
    await vi.advanceTimersByTimeAsync(5000);
    expect(requests).toHaveLength(tried);
  });

  it('goes on trying for a call that was cancelled: its answer is still owed', async () => {
    const refused = planeError('STORE_UNAVAILABLE', { problem: 'gone' });
    const { done } = settling({ answers: [refused, refused, 'settled'], signal: AbortSignal.abort('cancelled') });
    await vi.advanceTimersByTimeAsync(5000);
    expect((await done).answer).toBe('settled');
  });

  it.each([planeError('STORE_REPLACED', { expected: 'a', found: 'b' }), new TypeError('a mistake of ours')])(
    'does not try again after %s',
    async (error) => {
      const { done, requests } = settling({ answers: [error, 'settled'] });
      await vi.advanceTimersByTimeAsync(5000);
      await expect(done).rejects.toBe(error);
      expect(requests).toHaveLength(1);
    },
  );

  const DENIED = errorOutcome('SESSION_ENDED', { ending: 'revoked' });
  const LOST: RecoveredCall = { starts: 0, wasRunning: false, cancelRequested: false };
  it.each([
    ['was nobody’s before', 'no', undefined, 'unsafe'],
    ['was somebody’s and is of a read tool', 'unknown', LOST, 'read'],
    ['was somebody’s and is of an idempotent tool', 'unknown', LOST, 'idempotent'],
    ['was somebody’s, of a tool that was never found out', 'unknown', LOST, undefined],
    ['was somebody’s, of an unsafe tool without a mark', 'no', LOST, 'unsafe'],
    ['was somebody’s, of an unsafe tool with a mark', 'unknown', { ...LOST, starts: 1 }, 'unsafe'],
  ] as const)('of a refused call that %s says executed %s', async (_what, executed, recovered, effect) => {
    const facts = effect === undefined ? {} : { effect };
    const { done, requests } = settling({ outcome: DENIED, facts, ...(recovered === undefined ? {} : { recovered }) });
    await done;
    expect(written(requests)).toMatchObject({ kind: 'denied', executed });
    expect((await done).outcome.executed).toBe(executed);
  });

  it.each([
    ['the first worker handed back unserved', 'no', { fence: 2, handedBack: 1, recovered: LOST }],
    ['all workers so far handed back unserved', 'no', { fence: 8, handedBack: 7, recovered: LOST }],
    ['the first worker gave back for another reason', 'unknown', { fence: 2, recovered: LOST }],
    ['was lost before or after it was handed back', 'unknown', { fence: 8, handedBack: 6, recovered: LOST }],
  ] as const)('of a stale call that %s says executed %s', async (_what, executed, delivery) => {
    const { done, requests } = settling({
      outcome: errorOutcome('TOOL_STALE', { tool: 'notes.add', current: 'x' }),
      delivery,
    });
    await done;
    expect(written(requests)).toMatchObject({ kind: 'stale', executed });
  });

  it.each([
    ['that waited for a person only', 'no', true],
    ['that was somebody’s since', 'unknown', false],
  ] as const)('of a resumed call %s says executed %s', async (_what, executed, untouched) => {
    const resumedWith = { approval: 'a' as ApprovalId, untouched };
    const { done, requests } = settling({ outcome: DENIED, delivery: { fence: 3, recovered: LOST, resumedWith } });
    await done;
    expect(written(requests)).toMatchObject({ kind: 'denied', executed });
  });

  it('leaves alone what a recovered call itself says about its run', async () => {
    const { done, requests } = settling({ recovered: LOST, facts: { effect: 'read' } });
    await done;
    expect(written(requests).executed).toBe('yes');
  });

  it.each([
    ['of the tool that this worker has', 'digest-of-add', 'notes.add', 'masked as "digest-of-add"'],
    ['of another definition of the tool', 'digest-of-old', 'notes.add', undefined],
    ['of a tool that this worker does not have', 'digest-of-add', 'notes.drop', undefined],
  ])(
    'records the arguments of a call that was refused before its tool was known: %s',
    async (_, digest, tool, shown) => {
      const redactor: Redactor = {
        arguments: (_text, by) => `masked as ${JSON.stringify(by?.inputSchema['id'])}`,
        text: (text) => text,
      };
      const served = [sampleServedTool({ inputSchema: { id: 'digest-of-add' } })];
      const session = sampleDelivery().session;
      const envelope = encodeEnvelope({
        version: 1,
        session,
        run: sampleDelivery().run,
        tool: tool as ToolId,
        toolDigest: digest,
        arguments: '{"pin":"hush"}',
        key: 'k',
        depth: 0,
      });
      const delivery = { tool: tool as ToolId, envelope };
      const { done, requests } = settling({ outcome: DENIED, delivery, redactor, served });
      await done;
      const { arguments: kept } = readAuditDetail(requests[0]!.audit).payload;
      expect(kept).toBe(shown ?? '"not shown: which arguments are secret is not known (14 bytes)"');
    },
  );

  it('masks secret arguments that an error repeats, and no name of the plane', async () => {
    const masked: unknown[] = [];
    const redactor: Redactor = {
      arguments: (text) => text,
      text: (text) => text,
      repeated: (_tool, args) => {
        masked.push(args);
        const scrubText = (text: string): string => text.replaceAll('hush', '***');
        return { scrubText, scrub: (value) => JSON.parse(scrubText(JSON.stringify(value))) as typeof value };
      },
    };
    const words = { message: 'bad hush', code: 'hush' };
    const failed = errorOutcome('TOOL_FAILED', words, { executed: 'yes' });
    const denied = errorOutcome('RULE_DENIED', { tool: 'hush', rule: 'hush', reason: 'hush' });
    const served = [sampleServedTool()];
    const facts = { tool: served[0]!.declaration, arguments: { a: 1 }, sent: { arguments: '{}', toolDigest: 'd' } };
    const { done, requests } = settling({ outcome: failed, facts, redactor });
    const { outcome } = await done;
    expect(outcome.error).toMatchObject({ message: 'bad ***', facts: { message: 'bad ***', code: '***' } });
    expect(outcome.content).toEqual([{ kind: 'text', text: 'bad ***' }]);
    expect(written(requests)).toEqual(outcome);
    expect(readAuditDetail(requests[0]!.audit).payload.detail).toBe('bad ***');
    const refused = settling({ outcome: denied, redactor, served });
    expect((await refused.done).outcome.error?.facts).toEqual({ tool: 'hush', rule: 'hush', reason: '***' });
    expect(masked).toEqual([['{}', { a: 1 }], ['{}']]);
    await settling({ redactor, served }).done;
    expect(masked).toHaveLength(2);

    const bytes = Buffer.from('hush');
    const reported = errorOutcome(
      'TOOL_FAILED',
      { message: 'bad' },
      {
        content: [
          { kind: 'text', text: 'hush' },
          { kind: 'structured', value: { hush: ['hush'] } },
          { kind: 'resource', uri: 'a:hush', text: 'hush' },
          { kind: 'file', name: 'hush.txt', mediaType: 'text/plain', bytes },
        ],
        structured: { at: 'hush' },
      },
    );
    const { done: reporting } = settling({ outcome: reported, redactor, served });
    expect((await reporting).outcome).toMatchObject({
      content: [
        { kind: 'text', text: '***' },
        { kind: 'structured', value: { '***': ['***'] } },
        { kind: 'resource', uri: 'a:***', text: '***' },
        { kind: 'file', name: '***.txt', mediaType: 'text/plain', bytes },
      ],
      structured: { at: '***' },
    });
  });

  it('releases the key of an outcome that asks to come again, and of no other', async () => {
    for (const [outcome, releaseKey] of [
      [errorOutcome('TOOL_STALE', { tool: 'notes.add', current: 'x' }), true],
      [DENIED, false],
      [OK, false],
    ] as const) {
      const { done, requests } = settling({ outcome });
      await done;
      expect(requests[0]!.releaseKey).toBe(releaseKey);
    }
  });

  it('settles an outcome that cannot be written as one that says so', async () => {
    const structured = Object.defineProperty({}, 'text', {
      enumerable: true,
      get: () => {
        throw new Error('not this way');
      },
    });
    const outcome = { ...OK, structured };
    const { done, requests } = settling({ outcome });
    await done;
    expect(written(requests)).toMatchObject({
      kind: 'failed',
      executed: 'yes',
      error: { code: 'RESULT_UNSERIALISABLE' },
    });
  });
});

describe('settle of an outcome with offers', () => {
  const offering = (kind: Outcome['kind'], ...tools: string[]): Outcome => ({
    ...OK,
    kind,
    writeBacks: { files: [], messages: [], injectedTools: tools.map((tool) => ({ tool })) },
  });

  /** Settles with a store that keeps only the first offered tool, or fails with `failure`. */
  async function settled(outcome: Outcome, failure?: Error) {
    const asked: (readonly string[])[] = [];
    let told: Outcome | undefined;
    const store = partialStore({
      injectTools: async ({ tools }) => {
        asked.push(tools);
        if (failure !== undefined) throw failure;
        return { kind: 'injected', tools: tools.slice(0, 1) };
      },
      settleCall: async (request) => {
        told = decodeOutcome(request.outcome);
        return 'settled';
      },
    });
    await settleOutcome(
      sampleDelivered(sampleDelivery()),
      outcome,
      {},
      { store, settings: SETTINGS, log: SILENT_LOG, tools: servedTools() },
    );
    return { asked, told: told?.writeBacks?.injectedTools.map(({ tool }) => tool) };
  }

  it('stores the offers before it returns them, and returns only the stored ones', async () => {
    const { asked, told } = await settled(offering('ok', 'a.b', 'a.c', 'a.b', 'no id'));
    expect(asked).toEqual([['a.b', 'a.c']]);
    expect(told).toEqual(['a.b', 'a.b']);
  });

  it('keeps none of a tool that failed', async () => {
    expect(await settled(offering('failed', 'a.b'))).toEqual({ asked: [], told: [] });
  });

  it('loses the offers and not the outcome when they cannot be kept', async () => {
    const { told } = await settled(offering('ok', 'a.b'), planeError('STORE_FULL', { problem: 'OOM' }));
    expect(told).toEqual([]);
  });
});

it('roundDuration keeps whole milliseconds, and of a shorter run ten microseconds at least', () => {
  expect([12.6, 1.2, 0.128, 0.0001, 0].map(roundDuration)).toEqual([13, 1, 0.13, 0.01, 0.01]);
});
