import { describe, expect, it } from 'vitest';
import { recordingNeeds } from '../../../test/support/sample-hooks.ts';
import {
  partialStore,
  SAMPLE_IDENTITY,
  sampleAdmitted,
  sampleDelivery,
  sampleServedTool,
} from '../../../test/support/sample-call.ts';
import { ENVELOPE_VERSION } from '../../domain/call/call.ts';
import { NO_WRITE_BACKS } from '../../domain/outcome/content.ts';
import type { Ending } from '../../domain/call/ending.ts';
import type { ToolResultCall } from '../../domain/policy/hook.ts';
import { CLOSED_POLICY } from '../../domain/policy/policy.ts';
import { DEFAULT_LIMITS, type ToolDeclaration } from '../../domain/tool/tool.ts';
import { createGateHooks } from '../../gate/hooks/gate-hooks.ts';
import { createHookSet } from '../../gate/hooks/hook-set.ts';
import { registerHook } from '../../gate/hooks/registered-hook.ts';
import type { RunEnding, RunRequest } from '../../domain/ports/tool-runner.ts';
import { withSecrets } from '../../worker/secrets/run-with-secrets.ts';
import { execute } from './execute.ts';

const SECRET = 'hunter2-hunter2';
const source = { knows: () => true, read: async () => ({ kind: 'read', value: SECRET }) as const };

interface Order {
  readonly hook?: (call: ToolResultCall) => unknown;
  readonly run?: (request: RunRequest) => RunEnding;
  readonly tool?: Partial<ToolDeclaration>;
  readonly validateOutput?: (value: unknown) => string[];
  readonly signal?: AbortSignal;
}

const returned = (value: unknown, more: object = {}): RunEnding =>
  ({ kind: 'returned', result: { value }, writeBacks: { ...NO_WRITE_BACKS, ...more } }) as RunEnding;

/** Executes a tool that has a result hook and gets secrets as it would on a worker. */
async function executed(order: Order) {
  const seen: ToolResultCall[] = [];
  const reporting = recordingNeeds();
  const hook = registerHook({
    id: 'guard.mask',
    on: 'tool_result',
    timeoutMs: 20,
    match: { tools: ['notes.*'] },
    run: (event) => {
      seen.push(event as ToolResultCall);
      return order.hook?.(event as ToolResultCall);
    },
  });
  let runs = 0;
  const runner = withSecrets(
    {
      run: (request) => ((runs += 1), order.run?.(request) ?? returned({ name: 'ada' })),
      close: async () => undefined,
    },
    source,
  );
  const delivery = sampleDelivery();
  const abandoned: unknown[] = [];
  const tool = sampleServedTool({ secrets: ['KEY'], ...order.tool });
  const { validateOutput } = order;
  const ending = await execute(
    {
      call: {
        kind: 'identified',
        permission: '*',
        admitted: sampleAdmitted(delivery, {
          ...(order.signal === undefined ? {} : { signal: order.signal }),
          policy: { ...CLOSED_POLICY, secrets: { main: ['KEY'] } },
        }),
        envelope: {
          version: ENVELOPE_VERSION,
          session: delivery.session,
          run: delivery.run,
          tool: delivery.tool,
          toolDigest: 'digest-of-add',
          arguments: '{}',
          key: 'k',
          depth: 0,
        },
        identity: SAMPLE_IDENTITY,
        tool: validateOutput === undefined ? tool : { ...tool, validateOutput },
        arguments: { note: 'n' },
        canonical: '{"note":"n"}',
      },
    },
    {
      store: partialStore({
        startCall: async () => ({ kind: 'started', starts: 1 }),
        abandonCall: async (request) => (abandoned.push(request), 'abandoned'),
      }),
      settings: { retentionMs: 60_000, trustSnapshotMs: 60_000 },
      runners: { inline: runner, process: runner, 'process-per-call': runner },
      nested: async () => ({ kind: 'ok', executed: 'yes', retryable: false, content: [] }),
      log: reporting.log,
      secrets: source,
      hooks: createGateHooks(createHookSet([hook]), reporting),
    },
  );
  return { ending, seen, abandoned, lines: reporting.lines, runs: () => runs };
}

const WITHHELD = {
  kind: 'ended',
  outcome: {
    kind: 'blocked',
    executed: 'yes',
    retryable: false,
    error: { code: 'HOOK_RESULT_WITHHELD', facts: { tool: 'notes.add', hook: 'guard.mask' } },
  },
  reviewed: { withheldBy: 'guard.mask' },
};

/** The ending as JSON, without `reviewed`: the tool's own result in it does not leave the worker. */
function told(ending: Ending): string {
  const { reviewed: _reviewed, ...rest } = ending as Extract<Ending, { kind: 'ended' }>;
  return JSON.stringify(rest);
}

async function withSecretOf(request: RunRequest): Promise<string> {
  const answer = await request.onSecret!('KEY');
  return answer.kind === 'value' ? answer.value : '';
}

describe('a tool with a result hook', () => {
  it('shows the hook what ran and the result without secrets, and settles what the hook made of it', async () => {
    const run = ((request: RunRequest) => withSecretOf(request).then((key) => returned({ key, name: 'ada' }))) as never;
    const hook = ({ outcome }: ToolResultCall) => ({
      structured: { ...(outcome.structured as object), name: '***' },
    });
    const { ending, seen } = await executed({ hook, run });
    expect(seen).toMatchObject([
      { tool: 'notes.add', arguments: { note: 'n' }, outcome: { structured: { key: '[secret KEY]', name: 'ada' } } },
    ]);
    expect(ending).toMatchObject({
      kind: 'ended',
      outcome: { kind: 'ok', executed: 'yes', structured: { key: '[secret KEY]', name: '***' } },
      reviewed: { changedBy: ['guard.mask'], own: { structured: { name: 'ada' } } },
    });
    expect(JSON.stringify([ending, seen])).not.toContain(SECRET);
  });

  it('takes the secrets of the call out of what the hook wrote', async () => {
    const run = ((request: RunRequest) => withSecretOf(request).then(() => returned({}))) as never;
    const { ending } = await executed({ run, hook: () => ({ structured: { found: `key=${SECRET}` } }) });
    expect(ending).toMatchObject({ outcome: { structured: { found: 'key=[secret KEY]' } } });
  });

  it('settles its own result when the hook answers nothing', async () => {
    const { ending } = await executed({});
    expect(ending).toEqual({
      kind: 'ended',
      outcome: { kind: 'ok', executed: 'yes', retryable: false, content: [], structured: { name: 'ada' } },
    });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('ada');
      },
    ],
    ['takes too long', () => new Promise(() => undefined)],
    ['answers something else', () => ({ text: 'ada' })],
  ])(
    'has its result withheld by a hook that %s: it ran once, and nothing of the result is given out',
    async (_what, hook) => {
      const writeBacks = { messages: [{ format: 'card', body: { name: 'ada' } }], cost: 3 };
      const { ending, runs, lines } = await executed({ hook, run: () => returned({ name: 'ada' }, writeBacks) });
      expect(ending).toMatchObject(WITHHELD);
      expect(told(ending)).not.toContain('ada');
      expect(JSON.stringify(lines)).not.toContain('ada');
      expect(runs()).toBe(1);
    },
  );

  it('has a replaced result that does not match its output schema withheld', async () => {
    const validateOutput = (value: unknown): string[] =>
      typeof (value as { name?: unknown }).name === 'string' ? [] : ['/name: must be string'];
    const valid = await executed({ validateOutput, hook: () => ({ structured: { name: '***' } }) });
    expect(valid.ending).toMatchObject({ outcome: { kind: 'ok', structured: { name: '***' } } });
    for (const answer of [{ structured: { name: 5 } }, { content: [{ kind: 'text', text: 'no value' }] }]) {
      expect((await executed({ validateOutput, hook: () => answer })).ending).toMatchObject(WITHHELD);
    }
  });

  it('has a replaced result that is larger than its limit withheld', async () => {
    const tool = { limits: { ...DEFAULT_LIMITS, maxResultBytes: 1000 } };
    const hook = () => ({ content: [{ kind: 'text', text: 'x'.repeat(1000) }] });
    expect((await executed({ tool, hook })).ending).toMatchObject(WITHHELD);
  });

  it('has the words of its failure reviewed, and keeps kind and code', async () => {
    const run = (): RunEnding => ({ kind: 'refused', how: 'denied', message: 'Not ada.', writeBacks: NO_WRITE_BACKS });
    const hook = () => ({ content: [{ kind: 'text', text: 'Not this one.' }] });
    const { ending } = await executed({ run, hook });
    expect(ending).toMatchObject({
      outcome: { kind: 'denied', executed: 'yes', error: { code: 'TOOL_DENIED', message: 'Not this one.' } },
    });
    expect(told(ending)).not.toContain('ada');
  });

  it('does not describe a result by its keys where no hook could see it', async () => {
    const validateOutput = (): string[] => ['["ada@example.com"]: must be integer'];
    const invalid = (await executed({ validateOutput })).ending;
    expect(invalid).toMatchObject({ outcome: { error: { code: 'RESULT_INVALID' }, executed: 'yes' } });
    const problem = '$["ada@example.com"] is an instance of Map';
    const unsent = (await executed({ run: () => ({ kind: 'unserialisable', problem }) })).ending;
    expect(unsent).toMatchObject({ outcome: { error: { code: 'RESULT_UNSERIALISABLE' }, executed: 'yes' } });
    expect(told(invalid) + told(unsent)).not.toContain('ada');
  });

  it('asks no hook about an ending in the words of the plane', async () => {
    const { ending, seen } = await executed({
      run: () => ({ kind: 'threw', isStarted: true, type: 'TypeError', cause: 'ada' }),
    });
    expect(ending).toMatchObject({ outcome: { error: { code: 'TOOL_THREW' } } });
    expect(seen).toEqual([]);
  });

  it.each([
    ['cancelled', 'read', { kind: 'ended', outcome: { kind: 'cancelled', executed: 'yes' } }],
    ['draining', 'unsafe', WITHHELD],
    ['draining', 'read', { kind: 'handed-back' }],
    ['lost', 'unsafe', { kind: 'lost' }],
  ] as const)(
    'that is stopped (%s) while the hook is asked, being %s, gives out no result',
    async (reason, effect, expected) => {
      const controller = new AbortController();
      const hook = (): Promise<never> => {
        controller.abort(reason);
        return new Promise(() => undefined);
      };
      const { ending } = await executed({ hook, tool: { effect }, signal: controller.signal });
      expect(ending).toMatchObject(expected);
      expect(told(ending)).not.toContain('ada');
    },
  );
});
