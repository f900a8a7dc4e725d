import { describe, expect, it } from 'vitest';
import { hookedCall, hookSet, recordingNeeds } from '../../../test/support/sample-hooks.ts';
import type { ApprovalRequest, Ask } from '../../domain/policy/hook.ts';
import { mergeAsks } from '../approvals/merge-asks.ts';
import { runBeforeHooks } from './run-before-hooks.ts';

/** Runs one hook per request, which answers with it, and returns the asks that the gate made of the answers. */
function asksOf(...requests: ApprovalRequest[]): readonly Ask[] {
  const set = hookSet(
    ...requests.map((requireApproval, index) => ({ id: `p.h${index + 1}`, run: () => ({ requireApproval }) })),
  );
  const verdict = runBeforeHooks(set, hookedCall(), recordingNeeds());
  if (verdict instanceof Promise || verdict.kind !== 'passed') throw new Error('not passed');
  return verdict.asks;
}

describe('requests of hooks for approval', () => {
  it('keep all terms in the question', () => {
    const request: ApprovalRequest = {
      reason: 'It deletes.',
      title: 'Delete',
      description: 'Deletes a file.',
      detail: 'inode 7',
      severity: 'critical',
      timeoutMs: 3000,
      decisions: ['allow-once', 'deny'],
      approvers: ['role:ops'],
      quorum: 2,
      grantable: true,
    };
    const { grantable: _grantable, reason, approvers, ...terms } = request;
    const [ask] = asksOf(request);
    expect(mergeAsks([ask!], { title: 'Call files.write', approvers: [] })).toMatchObject({
      ...terms,
      reasons: [`hook p.h1: ${reason}`],
      approvers: [approvers],
    });
  });

  it('can be answered for always only by hooks that say so', () => {
    const offered = (...requests: ApprovalRequest[]) => {
      const [first, ...rest] = asksOf(...requests);
      return mergeAsks([first!, ...rest], { title: 'x', approvers: [] }).decisions;
    };
    expect(offered({ grantable: true }, {})).toStrictEqual(['allow-once', 'deny']);
    expect(offered({ grantable: true })).toStrictEqual(['allow-once', 'allow-always', 'deny']);
  });

  it('have the name of the hook that is there, however it calls itself, and the same digest each time', () => {
    const [one] = asksOf({ reason: 'x' });
    const [again] = asksOf({ reason: 'y' });
    expect(one!.asker).toStrictEqual(again!.asker);
    expect(asksOf({}, {}).map(({ asker }) => asker.digest)).not.toContain(undefined);
    expect(new Set(asksOf({}, {}).map(({ asker }) => asker.digest)).size).toBe(2);
  });

  it('are cut where they are too long, and not refused', () => {
    const [ask] = asksOf({ title: 't'.repeat(98), description: 'd'.repeat(5000), reason: 'r'.repeat(5000) });
    expect([ask!.title!.length, ask!.description!.length, ask!.reason!.length]).toStrictEqual([80, 512, 500]);
  });
});
