import { describe, expect, it } from 'vitest';
import { hookedCall, hookSet, recordingNeeds } from '../../../test/support/sample-hooks.ts';
import type { ApprovalRequest, Ask } from '../../domain/hook.ts';
import { mergeAsks } from './merge-asks.ts';
import { runBeforeHooks } from './run-before-hooks.ts';

/** What hooks asked for, read as it is read from a real answer. */
function asksOf(...requests: ApprovalRequest[]): readonly Ask[] {
  const set = hookSet(
    ...requests.map((requireApproval, index) => ({ id: `p.h${index + 1}`, run: () => ({ requireApproval }) })),
  );
  const verdict = runBeforeHooks(set, hookedCall(), recordingNeeds());
  if (verdict instanceof Promise || verdict.kind !== 'passed') throw new Error('not passed');
  return verdict.asks;
}
const merge = (...requests: ApprovalRequest[]) => mergeAsks(asksOf(...requests))!;

describe('wishes for approval', () => {
  it('that nobody has make no question', () => expect(mergeAsks([])).toBeUndefined());

  it('of one hook keep its terms', () => {
    const request = {
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
    } as const;
    const { grantable: _, decisions, reason, approvers, ...terms } = request;
    expect(merge(request)).toMatchObject({
      ...terms,
      decisions,
      reasons: [reason],
      approvers: [approvers],
      grantable: true,
    });
  });

  it('without terms have the defaults', () => {
    expect(merge({})).toStrictEqual({
      askers: [
        { kind: 'hook', id: 'p.h1', digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string, grantable: false },
      ],
      reasons: [],
      severity: 'warning',
      timeoutMs: 120_000,
      decisions: ['allow-once', 'deny'],
      approvers: [],
      quorum: 1,
      grantable: false,
    });
  });

  it('of several hooks merge into the strictest, with all askers and reasons', () => {
    const merged = merge(
      {
        reason: 'first',
        severity: 'info',
        timeoutMs: 60_000,
        decisions: ['allow-once', 'allow-always'],
        grantable: true,
      },
      { reason: 'second', severity: 'critical', timeoutMs: 600_000, quorum: 3, grantable: true },
      { reason: 'first', severity: 'warning', decisions: ['deny', 'allow-once', 'allow-once'], grantable: true },
    );
    expect(merged).toMatchObject({
      reasons: ['first', 'second'],
      severity: 'critical',
      timeoutMs: 60_000,
      decisions: ['allow-once', 'deny'],
      quorum: 3,
      grantable: true,
    });
    expect(merged.askers.map(({ id }) => id)).toStrictEqual(['p.h1', 'p.h2', 'p.h3']);
  });

  it('time out after the shortest time that anybody names', () => {
    expect(merge({ timeoutMs: 3_600_000 }, {}).timeoutMs).toBe(3_600_000);
    expect(merge({}, {}).timeoutMs).toBe(120_000);
  });

  it('that offer nothing in common can only be denied', () => {
    const [once, always] = [
      { decisions: ['allow-once' as const] },
      { decisions: ['allow-always' as const], grantable: true },
    ];
    expect(merge(once, always).decisions).toStrictEqual(['deny']);
  });

  it('that name approvers keep each list: who decides is in all of them', () => {
    const merged = merge({ approvers: ['ada', 'eve'] }, {}, { approvers: ['role:ops'] });
    expect(merged.approvers).toStrictEqual([['ada', 'eve'], ['role:ops']]);
  });

  it('can be answered by a grant only if every asker says so', () => {
    expect(merge({ grantable: true }, {})).toMatchObject({ grantable: false, decisions: ['allow-once', 'deny'] });
    expect(merge({ grantable: true }).decisions).toStrictEqual(['allow-once', 'allow-always', 'deny']);
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
