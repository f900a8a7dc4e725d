import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  APPROVAL_DECISIONS,
  SEVERITIES,
  type Approval,
  type ApprovalDecision,
  type Asker,
} from '../../domain/policy/approval.ts';
import type { Ask } from '../../domain/policy/hook.ts';
import { cutText } from './cut-text.ts';
import { mergeAgain, mergeAsks } from './merge-asks.ts';

const rule = (id: string, more: Partial<Ask> = {}, asker: Partial<Asker> = {}): Ask => ({
  asker: { kind: 'rule', id, digest: `digest of ${id}`, grantable: true, ...asker },
  ...more,
});
const DEFAULTS = { title: 'Allow files.write?', approvers: ['role:reviewers'] };
const merge = (first: Ask, ...others: Ask[]) => mergeAsks([first, ...others], DEFAULTS);

describe('mergeAsks', () => {
  it('of one rule that says nothing more asks with the defaults', () => {
    expect(merge(rule('writes'))).toEqual({
      askers: [rule('writes').asker],
      title: 'Allow files.write?',
      description: '',
      reasons: ['rule writes asks'],
      severity: 'warning',
      decisions: ['allow-once', 'allow-always', 'deny'],
      approvers: [['role:reviewers']],
      quorum: 1,
      timeoutMs: 120_000,
    });
  });

  it('takes the strictest severity, the shortest timeout that was given, the largest quorum and every reason', () => {
    const merged = merge(
      rule('a', { severity: 'info', timeoutMs: 3_600_000, reason: 'it writes', title: 'A?', quorum: 2 }),
      rule('b', { severity: 'critical', timeoutMs: 60_000, reason: 'it is prod', description: 'Prod!', detail: 'b' }),
      rule('c', { severity: 'warning', detail: 'c' }),
    );
    expect(merged).toMatchObject({ severity: 'critical', timeoutMs: 60_000, quorum: 2, description: 'Prod!' });
    expect(merged.title).toBe('A?');
    expect(merged.detail).toBe('b\n\nc');
    expect(merged.reasons).toEqual(['rule b: it is prod', 'rule c asks', 'rule a: it writes']);
    expect(merged.askers.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });

  it('lets the more worried of two speak first', () => {
    const merged = merge(rule('a', { title: 'mild' }), rule('b', { title: 'grave', severity: 'critical' }));
    expect(merged.title).toBe('grave');
  });

  it('offers only what all of them offer, and always a no', () => {
    const decisionsOf = (...lists: (ApprovalDecision[] | undefined)[]) => {
      const asks = lists.map((decisions, index) => rule(String(index), decisions === undefined ? {} : { decisions }));
      return merge(asks[0]!, ...asks.slice(1)).decisions;
    };
    expect(decisionsOf(['allow-once'], undefined)).toEqual(['allow-once', 'deny']);
    expect(decisionsOf(['allow-once', 'allow-always'], ['allow-always', 'deny'])).toEqual(['allow-always', 'deny']);
    expect(decisionsOf(['allow-once'], ['allow-always'])).toEqual(['deny']);
    expect(decisionsOf(['deny', 'deny', 'allow-once'])).toEqual(['allow-once', 'deny']);
    expect(decisionsOf([])).toEqual(['deny']);
  });

  it('offers nothing twice, in one order', () => {
    const decisions = ['deny', 'allow-once', 'deny', 'allow-once'] as const;
    expect(merge(rule('a', { decisions }), rule('b', { decisions })).decisions).toEqual(['allow-once', 'deny']);
  });

  it('offers no allow-always when a grant would not answer every asker', () => {
    expect(merge(rule('a'), rule('b', {}, { kind: 'hook', grantable: false })).decisions).toEqual([
      'allow-once',
      'deny',
    ]);
  });

  it('requires an approver that every asker names, the deployment’s where an asker names none', () => {
    const security = { approvers: ['role:security', 'role:security'] };
    expect(merge(rule('a', security), rule('b')).approvers).toEqual([['role:security'], ['role:reviewers']]);
    expect(merge(rule('a', { approvers: ['x', 'y'] }), rule('b', { approvers: ['y', 'x'] })).approvers).toHaveLength(1);
    const nobody = mergeAsks([rule('a', security), rule('b')], { ...DEFAULTS, approvers: [] });
    expect(nobody.approvers).toEqual([['role:security'], []]);
  });

  it.each([
    [0, 1_000],
    [-5, 1_000],
    [1_500.2, 1_501],
    [8 * 86_400_000, 7 * 86_400_000],
    [Infinity, 7 * 86_400_000],
    [Number.NaN, 120_000],
  ])('keeps a timeout of %s within its bounds', (timeoutMs, expected) => {
    expect(merge(rule('a', { timeoutMs })).timeoutMs).toBe(expected);
  });

  it('cuts long texts with a mark, and refuses none', () => {
    const long = 'x'.repeat(20_000);
    const merged = merge(rule('a', { title: long, description: long, detail: long, reason: long }));
    expect(merged.title).toHaveLength(80);
    expect(merged.description).toHaveLength(512);
    expect(merged.detail).toHaveLength(16_384);
    expect(merged.reasons[0]).toHaveLength(512);
    for (const text of [merged.title, merged.description, merged.detail!])
      expect(text).toMatch(/x… \(20000 characters\)$/);
    const whole = 'y'.repeat(80);
    expect(merge(rule('a', { title: whole })).title).toBe(whole);
  });

  it('is never milder than any of its parts', () => {
    const ask = fc.record(
      {
        severity: fc.constantFrom(...SEVERITIES),
        timeoutMs: fc.integer({ min: 1_000, max: 600_000 }),
        decisions: fc.subarray([...APPROVAL_DECISIONS]),
        quorum: fc.integer({ min: 1, max: 5 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(ask, { minLength: 1, maxLength: 5 }), (parts) => {
        const asks = parts.map((part, index) => rule(String(index), part as Partial<Ask>));
        const merged = merge(asks[0]!, ...asks.slice(1));
        for (const each of asks) {
          expect(SEVERITIES.indexOf(merged.severity)).toBeGreaterThanOrEqual(
            SEVERITIES.indexOf(each.severity ?? 'warning'),
          );
          expect(merged.timeoutMs).toBeLessThanOrEqual(each.timeoutMs ?? Infinity);
          expect(merged.quorum).toBeGreaterThanOrEqual(each.quorum ?? 1);
          const offered = [...(each.decisions ?? APPROVAL_DECISIONS), 'deny'];
          expect(merged.decisions.every((decision) => offered.includes(decision))).toBe(true);
        }
        expect(merged.decisions).toContain('deny');
      }),
    );
  });
});

describe('cutText', () => {
  it('never leaves half a character', () => {
    for (let length = 20; length < 40; length += 1) {
      const cut = cutText('😀'.repeat(30), length);
      expect(cut.length).toBeLessThanOrEqual(length);
      expect(cut).toBe(Buffer.from(cut).toString());
    }
  });
});

describe('mergeAgain', () => {
  const { timeoutMs, ...question } = merge(
    rule('a', { severity: 'critical', approvers: ['rita'], reason: 'it is prod', detail: 'a', timeoutMs: 5000 }),
    rule('b', { decisions: ['allow-once'], approvers: ['ann'], quorum: 2 }, { kind: 'hook' }),
  );
  const approval = { question, requestedAt: 1000, expiresAt: 1000 + timeoutMs } as unknown as Approval;
  const [a, b] = question.askers as [Asker, Asker];

  it('asks the same question, with the same time, when nothing else asks', () => {
    expect(mergeAgain([], { approval, askers: [a, b] }, DEFAULTS)).toEqual({ ...question, timeoutMs });
  });

  it('is only what asks now when nothing from before asks again', () => {
    expect(mergeAgain([rule('c')], { approval, askers: [] }, DEFAULTS)).toEqual(merge(rule('c')));
  });

  it('leaves out the reasons of a rule whose name only begins like that of one which asks again', () => {
    const { timeoutMs: waitMs, ...both } = merge(rule('a', { reason: 'x' }), rule('ab', { reason: 'y' }), rule('a-b'));
    const asked = { question: both, requestedAt: 1000, expiresAt: 1000 + waitMs } as unknown as Approval;
    const again = mergeAgain([rule('c')], { approval: asked, askers: [rule('a').asker] }, DEFAULTS);
    expect(again.reasons).toEqual(['rule c asks', 'rule a: x']);
  });

  it('is as strict as both questions, and leaves out reasons of those that do not ask again', () => {
    expect(mergeAgain([rule('c', { approvers: ['bob'] })], { approval, askers: [b] }, DEFAULTS)).toMatchObject({
      askers: [rule('c').asker, b],
      reasons: ['rule c asks', 'hook b asks'],
      severity: 'critical',
      detail: 'a',
      decisions: ['allow-once', 'deny'],
      approvers: [['rita'], ['ann'], ['bob']],
      quorum: 2,
      timeoutMs: 5000,
    });
  });
});
