import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallAnswer, Outcome, SessionHandle } from '../../src/exports/client.ts';
import { BACKENDS, outcomeOf, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';
import { endingsOf, marksOf, untilMarks } from './support/watch-plane.ts';

const MODULES = fileURLToPath(new URL('../fixtures/serial-plane', import.meta.url));
const CALLS = 50;
/** The index of the call that is running when its worker is killed. */
const STRUCK = 20;

describe.each(BACKENDS)('calls of a serial tool on %s', (backend) => {
  let plane: StagedPlane;
  let workers: PlaneWorker[];
  beforeEach(async () => {
    plane = await stagePlane(backend);
    workers = await Promise.all([1, 2, 3].map(() => plane.startWorker({ modules: MODULES })));
  });
  afterEach(() => plane.stop());

  const go = (): string => `${plane.effectFile}.go`;
  const labelOf = (subject: string, index: number): string => `${subject}-${String(index).padStart(2, '0')}`;

  /** Makes the calls one after the other, so that the order of acceptance is known. */
  async function acceptAll(
    session: SessionHandle,
    tool: string,
    subject: string,
    count: number,
  ): Promise<CallAnswer[]> {
    const answers: CallAnswer[] = [];
    for (let index = 0; index < count; index += 1) {
      const held = subject === 'alice' && index === STRUCK ? { until: go() } : {};
      const args = { file: plane.effectFile, label: labelOf(subject, index), ms: 5, ...held };
      answers.push(await plane.client.call(session, tool, args, { waitMs: 0, deadlineMs: 120_000 }));
    }
    return answers;
  }

  const outcomesOf = (session: SessionHandle, answers: readonly CallAnswer[]): Promise<Outcome[]> =>
    Promise.all(answers.map((answer) => outcomeOf(plane, session, answer)));

  /** What the tools wrote for one subject, in order. */
  const storyOf = (subject: string): string[] =>
    marksOf(plane)
      .filter(({ label }) => label.startsWith(subject))
      .map(({ letter, label }) => `${letter} ${label}`);

  async function strike(): Promise<void> {
    const [struck] = await untilMarks(plane, 'S', labelOf('alice', STRUCK));
    const worker = workers.find(({ process: { pid } }) => pid === struck!.pid)!;
    worker.process.kill('SIGKILL');
    await worker.process.exited;
  }

  it('start in the order of acceptance, one at a time, over a killed worker; another subject is not held up', async () => {
    const alice = await plane.openSession('alice');
    const bob = await plane.openSession('bob');
    const answers = await acceptAll(alice, 'ledger.book', 'alice', CALLS);
    await untilMarks(plane, 'S', labelOf('alice', STRUCK));
    // All calls of bob are answered while a call of alice is still running.
    const ofBob = await outcomesOf(bob, await acceptAll(bob, 'ledger.book', 'bob', 10));
    expect(ofBob.map(({ kind }) => kind)).toStrictEqual(ofBob.map(() => 'ok'));
    expect(storyOf('alice').at(-1)).toBe(`S ${labelOf('alice', STRUCK)}`);
    await strike();

    const outcomes = await outcomesOf(alice, answers);
    const expected = outcomes.map((_, index) => (index === STRUCK ? 'indeterminate' : 'ok'));
    expect(outcomes.map(({ kind }) => kind)).toStrictEqual(expected);
    const story = Array.from({ length: CALLS }, (_, index) => labelOf('alice', index)).flatMap((label, index) =>
      index === STRUCK ? [`S ${label}`] : [`S ${label}`, `E ${label}`],
    );
    expect(storyOf('alice')).toStrictEqual(story);
    expect(await endingsOf(plane)).toHaveLength(CALLS + 10);
    const served = new Set(marksOf(plane, 'S').map(({ pid }) => pid));
    console.log(`${backend}: ${CALLS} calls in order over ${served.size} workers`);
  });

  it('that may run again keep their place: the lost one runs again before those behind it', async () => {
    const alice = await plane.openSession('alice');
    const answers = await acceptAll(alice, 'ledger.bookAgain', 'alice', STRUCK + 10);
    await strike();
    writeFileSync(go(), '');
    const outcomes = await outcomesOf(alice, answers);
    expect(outcomes.map(({ kind }) => kind)).toStrictEqual(outcomes.map(() => 'ok'));
    const story = answers
      .map((_, index) => labelOf('alice', index))
      .flatMap((label, index) =>
        index === STRUCK ? [`S ${label}`, `S ${label}`, `E ${label}`] : [`S ${label}`, `E ${label}`],
      );
    expect(storyOf('alice')).toStrictEqual(story);
  });

  it('that are cancelled or expire in the middle let the next one through', async () => {
    const alice = await plane.openSession('alice');
    const book = (label: string, more: object, deadlineMs = 60_000) =>
      plane.client.call(alice, 'ledger.book', { file: plane.effectFile, label, ...more }, { waitMs: 0, deadlineMs });
    const first = await book('alice-first', { until: go() });
    await untilMarks(plane, 'S', 'alice-first');
    const cancelled = (await book('alice-cancelled', {})) as Extract<CallAnswer, { kind: 'pending' }>;
    const expired = await book('alice-expired', {}, 300);
    const last = await book('alice-last', {});
    expect(await plane.client.cancel(alice, cancelled.callId)).toBe('cancelled');
    expect(await outcomeOf(plane, alice, expired)).toMatchObject({ kind: 'expired', executed: 'no' });
    writeFileSync(go(), '');
    expect((await outcomesOf(alice, [first, last])).map(({ kind }) => kind)).toStrictEqual(['ok', 'ok']);
    expect(storyOf('alice')).toStrictEqual(['S alice-first', 'E alice-first', 'S alice-last', 'E alice-last']);
  });
});
