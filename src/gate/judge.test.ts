import { describe, expect, it } from 'vitest';
import { before, plugin, wrapEcho } from '../../test/support/gate-tools.ts';
import { hookSet, recordingNeeds } from '../../test/support/sample-hooks.ts';
import {
  partialStore,
  SAMPLE_IDENTITY,
  sampleAdmitted,
  sampleDelivery,
  sampleServedTool,
  SILENT_LOG,
} from '../../test/support/sample-call.ts';
import { ENVELOPE_VERSION } from '../domain/call/call.ts';
import type { BeforeAnswer } from '../domain/policy/hook.ts';
import { toolId } from '../domain/identity/ids.ts';
import type { JsonObject } from '../base/json.ts';
import type { Policy } from '../domain/policy/policy.ts';
import { subjectShares } from '../domain/call/subject-share.ts';
import type { GateHooks } from '../domain/ports/gate-hooks.ts';
import { gate } from '../stages/gate/gate.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { runBeforeHooks } from './hooks/run-before-hooks.ts';
import { judge, type GateChecks } from './judge.ts';
import { PASS } from '../domain/policy/loop-verdict.ts';
import type { GateBlocked } from './wrap/gate-blocked.ts';
import { adviceOf } from './wrap/add-advice.ts';

type Hook = () => BeforeAnswer;

/** One call of `box.echo`, which is the `number`-th of its run. */
interface Scenario {
  readonly number?: number;
  readonly rules?: Policy['rules'];
  readonly hooks?: readonly Hook[];
  readonly sent: JsonObject;
}

/** What a caller can see: the code of the refusal or the arguments that run, what decided, and whether advice was given. */
interface Seen {
  readonly ends: string | JsonObject;
  readonly by?: string;
  readonly advised: boolean;
}

const LOOPS = { default: { budgets: { callsPerRun: 10 } } } as const;

async function throughWorker({ number = 1, rules, hooks = [], sent }: Scenario): Promise<Seen> {
  const tool = toolId('box', 'echo');
  const runState = { sequence: number, toolSequence: number, startedAt: 0, cost: 0, loopEnds: [] };
  const delivery = sampleDelivery({ tool, runState });
  const set = hookSet(...hooks.map((run, index) => ({ id: `g.h${index + 1}`, run })));
  const policy: Policy = { roles: {}, permissions: {}, paused: {}, loops: LOOPS, ...(rules && { rules }) };
  const canonical = canonicalJson(sent);
  const answer = await gate(
    {
      kind: 'identified',
      permission: '*',
      admitted: sampleAdmitted(delivery, { policy }),
      envelope: {
        version: ENVELOPE_VERSION,
        session: delivery.session,
        run: delivery.run,
        tool,
        toolDigest: '',
        key: 'k',
        depth: 0,
        arguments: canonical,
      },
      identity: SAMPLE_IDENTITY,
      tool: sampleServedTool({ id: tool }),
      arguments: sent,
      canonical,
    },
    {
      hooks: {
        before: (call, read) => runBeforeHooks(set, call, { ...recordingNeeds(), read }),
      } as Pick<GateHooks, 'before'> as GateHooks,
      store: partialStore({}),
      log: SILENT_LOG,
      runners: {} as never,
      shares: subjectShares({ liveBytes: 1, retainedBytes: 1 }),
    },
  );
  if (answer.kind === 'allowed') return { ends: answer.call.arguments, advised: answer.facts.advice !== undefined };
  if (answer.kind !== 'ended') throw new Error(`it ended as ${answer.kind}`);
  const { outcome, refusedBy } = answer;
  const by = refusedBy?.hook ?? (outcome.error?.facts?.['rule'] as string | undefined) ?? detectorOf(outcome.error);
  return { ends: outcome.error!.code, ...(by && { by }), advised: refusedBy?.advice !== undefined };
}

async function throughLibrary({ number = 1, rules, hooks = [], sent }: Scenario): Promise<Seen> {
  const echo = wrapEcho({
    policy: { loops: LOOPS, ...(rules && { rules }) },
    ...(hooks.length > 0 && { hooks: [plugin(...hooks.map((run) => before(run)))] }),
    identity: { subject: 'alice', agent: 'main' },
  });
  for (let earlier = 1; earlier < number; earlier += 1) await echo({ earlier }).catch(() => undefined);
  try {
    const result = (await echo(sent)) as JsonObject;
    return { ends: result, advised: adviceOf(result) !== undefined };
  } catch (error) {
    const { code, by, advice } = error as GateBlocked;
    return { ends: code, ...(by !== undefined && { by }), advised: advice !== undefined };
  }
}

function detectorOf(error: { readonly facts?: unknown } | undefined): string | undefined {
  return (error?.facts as { detector?: string } | undefined)?.detector;
}

const DENY_RM: Policy['rules'] = [
  { id: 'no-rm', verdict: 'deny', tools: ['box.echo'], arguments: [{ at: '/run', equals: 'rm' }] },
];
const patch =
  (changes: JsonObject): Hook =>
  () => ({ patch: changes });
const block: Hook = () => ({ block: true, reason: 'no' });
const fail: Hook = () => {
  throw new Error('broken');
};

/** A run may make ten calls: the ninth call gets the warning as advice, and the eleventh is blocked. */
const SCENARIOS: readonly (readonly [string, Scenario, Seen])[] = [
  ['lets a call run that no check objects to', { sent: { run: 'ls' } }, { ends: { run: 'ls' }, advised: false }],
  [
    'asks loop detection first',
    { number: 11, rules: DENY_RM, sent: { run: 'rm' } },
    { ends: 'BUDGET_SPENT', by: 'calls-per-run', advised: false },
  ],
  [
    'asks rules before hooks',
    { rules: DENY_RM, hooks: [block], sent: { run: 'rm' } },
    { ends: 'RULE_DENIED', by: 'no-rm', advised: false },
  ],
  [
    'is stopped by a hook',
    { hooks: [block], sent: { run: 'ls' } },
    { ends: 'HOOK_BLOCKED', by: 'g.h1', advised: false },
  ],
  [
    'asks rules again about changed arguments',
    { rules: DENY_RM, hooks: [patch({ run: 'rm' })], sent: { run: 'ls' } },
    { ends: 'RULE_DENIED', by: 'no-rm', advised: false },
  ],
  [
    'asks rules about the arguments that run, if hooks change them back',
    { rules: DENY_RM, hooks: [patch({ run: 'rm' }), patch({ run: 'ls' })], sent: { run: 'ls' } },
    { ends: { run: 'ls' }, advised: false },
  ],
  [
    'gives advice with a refusal of a rule',
    { number: 9, rules: DENY_RM, sent: { run: 'rm' } },
    { ends: 'RULE_DENIED', by: 'no-rm', advised: true },
  ],
  [
    'gives advice with a refusal of a rule about changed arguments',
    { number: 9, rules: DENY_RM, hooks: [patch({ run: 'rm' })], sent: { run: 'ls' } },
    { ends: 'RULE_DENIED', by: 'no-rm', advised: true },
  ],
  [
    'gives advice with a refusal of a hook',
    { number: 9, hooks: [block], sent: { run: 'ls' } },
    { ends: 'HOOK_BLOCKED', by: 'g.h1', advised: true },
  ],
];

describe.each([
  ['worker', throughWorker],
  ['library', throughLibrary],
])('the gate of the %s', (_, pass) => {
  it.each(SCENARIOS)('%s', async (_title, scenario, seen) => {
    expect(await pass(scenario)).toStrictEqual(seen);
  });

  it('gives advice with a failed hook, and refuses the call', async () => {
    expect(await pass({ number: 9, hooks: [fail], sent: {} })).toMatchObject({ ends: 'HOOK_FAILED', advised: true });
  });
});

describe('judge', () => {
  it('does not repeat loop detection and rules for arguments that hooks changed and changed back', async () => {
    const asked: string[] = [];
    const call = { tool: { id: toolId('box', 'echo') }, arguments: { run: 'ls' }, canonical: '{"run":"ls"}' };
    const checks: GateChecks = {
      detectLoop: () => (asked.push('loop'), PASS),
      reportLoop: () => undefined,
      decideByRules: () => (asked.push('rules'), { verdict: 'allow', by: 'unmatched', matched: [], askers: [] }),
      runHooks: () => ({ ...call, kind: 'passed', changedBy: [{ hook: 'h', kind: 'patch' } as never], asks: [] }),
    };
    expect(await judge(call, checks)).toMatchObject({ kind: 'no-objection' });
    expect(asked).toStrictEqual(['loop', 'rules']);
  });
});
