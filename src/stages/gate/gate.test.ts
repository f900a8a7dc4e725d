import { describe, expect, it } from 'vitest';
import { subjectShares } from '../../domain/call/subject-share.ts';
import { ENVELOPE_VERSION } from '../../domain/call/call.ts';
import { runBeforeHooks } from '../../gate/hooks/run-before-hooks.ts';
import type { GateHooks } from '../../domain/ports/gate-hooks.ts';
import type { RunEnding } from '../../domain/ports/tool-runner.ts';
import { hookSet, recordingNeeds } from '../../../test/support/sample-hooks.ts';
import {
  partialStore,
  SAMPLE_IDENTITY,
  sampleAdmitted,
  sampleDelivery,
  sampleServedTool,
  SILENT_LOG,
} from '../../../test/support/sample-call.ts';
import { gate } from './gate.ts';

type Stop = (reason: string) => void;

/** Gates a call whose arguments a hook rewrites. The tool normalises, so its runner is asked too: `normalise` gives the runner's answer. */
async function gated(normalise: (stop: Stop) => RunEnding) {
  const delivery = sampleDelivery();
  const { session, tool, run: runId } = delivery;
  const controller = new AbortController();
  const admitted = sampleAdmitted(delivery, { signal: controller.signal });
  const set = hookSet({ id: 'rewriting', run: () => ({ patch: { text: 'x' } }) });
  const hooks = {
    before: (call, read) => runBeforeHooks(set, call, { ...recordingNeeds(), read }),
  } as Pick<GateHooks, 'before'> as GateHooks;
  const runner = { run: () => normalise((reason) => controller.abort(reason)), close: async () => undefined };
  const envelope = {
    version: ENVELOPE_VERSION,
    session,
    run: runId,
    tool,
    toolDigest: '',
    key: 'k',
    depth: 0,
  } as const;
  return gate(
    {
      kind: 'identified',
      permission: '*',
      admitted,
      envelope: { ...envelope, arguments: '{}' },
      identity: SAMPLE_IDENTITY,
      tool: sampleServedTool({ normalises: true }),
      arguments: {},
      canonical: '{}',
    },
    {
      hooks,
      store: partialStore({ abandonCall: async () => 'abandoned' }),
      log: SILENT_LOG,
      runners: { inline: runner, process: runner, 'process-per-call': runner },
      shares: subjectShares({ liveBytes: 1, retainedBytes: 1 }),
    },
  );
}

describe('a call that is stopped while the rewrite of a hook is normalised', () => {
  it.each<[string, object]>([
    ['cancelled', { kind: 'ended', outcome: { kind: 'cancelled', error: { code: 'CALL_CANCELLED' } } }],
    ['draining', { kind: 'handed-back' }],
    ['lost', { kind: 'lost' }],
  ])('ends as every call that is %s', async (reason, ending) => {
    const answer = await gated((stop) => {
      stop(reason);
      return { kind: 'aborted' };
    });
    expect(answer).toMatchObject(ending);
  });

  it('is still blocked by name when the rewrite is wrong', async () => {
    const answer = await gated(() => ({ kind: 'invalid-arguments', problems: ['text: wrong'] }));
    expect(answer).toMatchObject({ outcome: { error: { code: 'HOOK_ARGUMENTS_INVALID' } } });
  });
});
