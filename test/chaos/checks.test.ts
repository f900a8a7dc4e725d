import { describe, expect, it } from 'vitest';
import { checkHistory, CHECKS } from '../../chaos/checks/checks.ts';
import { goodHistory, idOf, type Draft } from './sample-history.ts';

/** Returns the ids of the checks that found a violation. */
function violatedBy(draft: Draft): string[] {
  return checkHistory(draft as Parameters<typeof checkHistory>[0])
    .checks.filter(({ result }) => result.violations.length > 0)
    .map(({ id }) => id);
}

function answersTo(draft: Draft, key: string) {
  const indexes = draft.calls.filter((call) => call.key === key).map(({ index }) => index);
  return draft.answers.filter(({ index }) => indexes.includes(index));
}

function startAgain(draft: Draft, key: string, change: { atMs?: number; fence?: number; pid?: number } = {}): void {
  const line = draft.effects.find(({ callId, mark }) => callId === idOf(key) && mark === 'S');
  const planned = draft.calls.find((call) => call.key === key)!;
  const { callId, tool, argsDigest } = planned;
  const fresh = { mark: 'S', callId, tool, argsDigest, subject: 's0', fence: 1, pid: 1, atMs: 5000 } as const;
  draft.effects.push({ ...fresh, ...line, ...change });
}

/**
 * Each case plants one thing that must not happen. The check with this id has to report it; other checks may report it too, because
 * one mishap can break several rules.
 */
const PLANTED: readonly [id: string, what: string, plant: (draft: Draft) => void][] = [
  ['I1', 'a second ending in the audit', (draft) => void (draft.audit.at(-1)!.event = 'call.settled')],
  [
    'I1',
    'a reader who was told something else',
    (draft) => void (answersTo(draft, 'read')[0]!.outcome = { kind: 'failed', executed: 'yes', digest: 'x' }),
  ],
  ['I2', 'a second start of an unsafe tool', (draft) => startAgain(draft, 'lost', { fence: 2, pid: 2 })],
  ['I2', 'a start of a call that says it did not run', (draft) => startAgain(draft, 'cancel', { atMs: 910 })],
  [
    'I2',
    'an ok of a run that never came to its end',
    (draft) =>
      void (draft.effects = draft.effects.filter(({ mark, callId }) => mark !== 'E' || callId !== idOf('send'))),
  ],
  ['I3', 'a start long after the revocation', (draft) => startAgain(draft, 'revoked')],
  ['I4', 'other arguments than were sent', (draft) => void (draft.effects[0]!.argsDigest = 'forged')],
  ['I5', 'an accepted call that the store has forgotten', (draft) => void draft.records.delete(idOf('read'))],
  ['I5', 'a call that is still queued', (draft) => void (draft.records.get(idOf('read'))!.state = 'queued')],
  [
    'I5',
    'a caller that never had an answer',
    (draft) => void (draft.answers = draft.answers.filter(({ index }) => index !== 0)),
  ],
  ['I5', 'an id that is unknown later', (draft) => void (answersTo(draft, 'send')[0]!.kind = 'unknown')],
  [
    'I6',
    'an outcome without its audit',
    (draft) => void (draft.audit = draft.audit.filter(({ callId }) => callId !== idOf('read'))),
  ],
  ['I6', 'an audit that tells another outcome', (draft) => void (draft.audit[0]!.outcome = 'failed')],
  ['I7', 'a settlement by a lost lease', (draft) => startAgain(draft, 'turn', { fence: 9, pid: 9, atMs: 1450 })],
  ['I7', 'two owners under one fence', (draft) => startAgain(draft, 'turn', { fence: 2, pid: 9, atMs: 1450 })],
  [
    'I8',
    'one key that became two calls',
    (draft) => void (answersTo(draft, 'twice')[1]!.callId = `${idOf('twice')}~2`),
  ],
  ['I8', 'another body that was not refused', (draft) => void (draft.calls.at(-1)!.argsDigest = 'other')],
  ['I9', 'a start that nobody allowed', (draft) => startAgain(draft, 'denied')],
  [
    'I9',
    'two answers that both decided',
    (draft) => void draft.decisions.push({ ...draft.decisions[0]!, decision: 'deny' }),
  ],
  [
    'I9',
    'a question that ended twice',
    (draft) => void draft.audit.push({ ...draft.audit.at(-1)!, sequence: draft.audit.length + 1 }),
  ],
  ['I9', 'a start before the yes', (draft) => void (draft.decisions[0]!.askedAtMs = 90_000)],
  ['I10', 'a gap in the audit', (draft) => void (draft.audit[3]!.sequence += 1)],
  [
    'I10',
    'a broken chain',
    (draft) => void (draft.chain = { records: draft.audit.length, problem: 'record 3: it was changed' }),
  ],
  ['I10', 'a chain that lacks a record', (draft) => void (draft.chain = { records: draft.audit.length - 1 })],
  ['I10', 'a reply before its audit', (draft) => void (answersTo(draft, 'turn')[0]!.auditSequence = 0)],
  ['I11', 'serial calls out of order', (draft) => void (draft.records.get(idOf('lineA'))!.acceptedAt = 5000)],
  [
    'I11',
    'serial calls at the same time',
    (draft) => void (draft.effects.find(({ callId, mark }) => callId === idOf('lineA') && mark === 'E')!.atMs = 1400),
  ],
  [
    'I12',
    'a refused call that ran',
    (draft) =>
      Object.assign(answersTo(draft, 'lost')[0]!, {
        kind: 'refused',
        callId: undefined,
        outcome: { kind: 'overloaded', executed: 'no', digest: 'x' },
      }),
  ],
  ['I13', 'a call that was settled too late', (draft) => void (draft.records.get(idOf('read'))!.settledAt = 80_000)],
  ['I13', 'a call that was not settled at all', (draft) => void draft.unfinished.push(idOf('read'))],
  ['I13', 'a worker that gave up', (draft) => void draft.troubles.push('worker0 ended with 70: failed STORE_REPLACED')],
  ['I14', 'a start after the cancel', (draft) => startAgain(draft, 'cancel')],
  [
    'I14',
    'a cancelled call that ended otherwise',
    (draft) =>
      void (draft.records.get(idOf('cancel'))!.outcome = { kind: 'denied', executed: 'no', digest: 'outcome-cancel' }),
  ],
  ['I14', 'a tool that was not told to stop', plantDeafTool],
  [
    'I15',
    'an answer in the wrong hands',
    (draft) => void (answersTo(draft, 'read')[0]!.outcome = answersTo(draft, 'send')[0]!.outcome!),
  ],
  ['I16', 'a start behind the closed gate', (draft) => startAgain(draft, 'gated')],
  [
    'I19',
    'something that is left behind',
    (draft) => void (draft.leftovers = { places: 5, found: ['pending entries: 1, expected 0'] }),
  ],
  [
    'I20',
    'another outcome for the late reader',
    (draft) => void (answersTo(draft, 'send')[0]!.outcome = { kind: 'failed', executed: 'yes', digest: 'x' }),
  ],
  ['I21', 'a call that kills one worker after the other', (draft) => startAgain(draft, 'poison', { fence: 4, pid: 4 })],
  [
    'I21',
    'poison that ends otherwise',
    (draft) =>
      void (draft.records.get(idOf('poison'))!.outcome = { kind: 'failed', executed: 'yes', digest: 'outcome-poison' }),
  ],
  ['I22', 'a drain that ended badly', (draft) => void (draft.faults[0]!.detail = 'exit 1')],
  [
    'I22',
    'a drain that left a call indeterminate',
    (draft) => Object.assign(draft.faults[0]!, { pid: 1, fromMs: 1000, toMs: 9000 }),
  ],
  [
    'run',
    'an ending that does not fit',
    (draft) =>
      void (answersTo(draft, 'read')[0]!.outcome = { kind: 'unknown-tool', executed: 'no', digest: 'outcome-read' }),
  ],
];

function stopOf(pid: number, fromMs: number, toMs: number, kind: string): Draft['faults'][number] {
  return { number: 1, kind, target: 'worker1', pid, fromMs, toMs, detail: '' };
}

function plantDeafTool(draft: Draft): void {
  draft.faults = [];
  startAgain(draft, 'lost', { atMs: 1505 });
  draft.effects = draft.effects.filter(({ callId, atMs }) => callId !== idOf('lost') || atMs === 1505);
  const start = draft.effects.find(({ callId }) => callId === idOf('lost'))!;
  draft.effects.push({ ...start, mark: 'A', atMs: 9000 });
  draft.cancels.push({ index: 5, callId: idOf('lost'), atMs: 1600, answer: 'cancelling' });
}

describe('the checks', () => {
  it('find nothing wrong with a run that went well, and look at something each', () => {
    const { checks } = checkHistory(goodHistory() as Parameters<typeof checkHistory>[0]);
    expect(checks.filter(({ result }) => result.violations.length > 0)).toEqual([]);
    expect(checks.filter(({ result }) => result.tried === 0).map(({ id }) => id)).toEqual(['I12']);
  });

  it.each(PLANTED)('of %s find %s', (id, _, plant) => {
    const draft = goodHistory();
    plant(draft);
    expect(violatedBy(draft)).toContain(id);
  });

  it('are each shown by a planted violation', () => {
    const shown = new Set(PLANTED.map(([id]) => id));
    expect(CHECKS.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
  });

  it('count from the end of a stop that may have hit a worker right before the tool', () => {
    const draft = goodHistory();
    startAgain(draft, 'gated', { pid: 77 });
    draft.faults.push(stopOf(77, 10, 4990, 'stop-worker'));
    expect(violatedBy(draft)).not.toContain('I16');
    draft.faults.at(-1)!.toMs = 2990;
    expect(violatedBy(draft)).toContain('I16');
  });

  // The start of `startAgain` is at 5000; `goodHistory` acknowledges before that.
  describe.each([
    ['I14', 'cancel', (draft: Draft, atMs: number): void => void (draft.cancels[0]!.atMs = atMs)],
    ['I3', 'revoked', (draft: Draft, atMs: number): void => void (draft.revocations[0]!.atMs = atMs)],
    ['I16', 'gated', (draft: Draft, atMs: number): void => void (draft.gates[0]!.fromMs = atMs)],
  ] as const)('of %s, about a worker that was held up', (id, key, acknowledge) => {
    it('find a start right after a stop at a send in which the withdrawal was acknowledged', () => {
      const draft = goodHistory();
      startAgain(draft, key, { pid: 77 });
      acknowledge(draft, 4800);
      draft.faults.push(stopOf(77, 4500, 4990, 'stop-at-send'));
      draft.stalls.push({ pid: 77, fromMs: 4480, toMs: 4995 });
      expect(violatedBy(draft)).toContain(id);
    });

    it('find a start right after a slow hook in which the withdrawal was acknowledged', () => {
      const draft = goodHistory();
      startAgain(draft, key, { pid: 77 });
      acknowledge(draft, 4800);
      draft.hooks.push({ pid: 77, callId: idOf(key), fromMs: 4700, toMs: 4990 });
      expect(violatedBy(draft)).toContain(id);
    });

    it.each([
      ['a stop that the verdict may outlive', { fromMs: 4745, toMs: 4990 }, 4800],
      ['a stop of another worker', { pid: 78 }, 4800],
      ['a withdrawal that was acknowledged after the stop', {}, 4995],
      ['a start before the end of the stop', { toMs: 5010 }, 4800],
    ])('allow a start within the bound: %s', (_, stop, ackMs) => {
      const draft = goodHistory();
      startAgain(draft, key, { pid: 77 });
      acknowledge(draft, ackMs);
      draft.faults.push({ ...stopOf(77, 4500, 4990, 'stop-at-send'), ...stop });
      draft.hooks.push({ pid: 77, callId: idOf('read'), fromMs: 4000, toMs: 4990 });
      expect(violatedBy(draft)).not.toContain(id);
    });
  });
});
