import { expect, it } from 'vitest';
import { MAX_RUNS } from '../../../src/domain/identity/session.ts';
import { newRunId } from '../../../src/domain/identity/new-id.ts';
import { acceptOne, openSession } from '../fixtures.ts';
import type { Scene } from '../scene.ts';

export function describeRuns(scene: Scene): void {
  it('openRun opens no more than 1,000 runs of a session, and ends none to make room', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const runs = Array.from({ length: MAX_RUNS - 1 }, () => newRunId());
    const answers = await Promise.all(runs.map((run) => store.openRun({ session: session.id, run })));
    expect(new Set(answers)).toEqual(new Set(['opened']));

    const more = newRunId();
    expect(await store.openRun({ session: session.id, run: more })).toBe('full');
    expect((await store.readSession(session.id))!.runs.toSorted()).toEqual([session.run, ...runs].toSorted());
    // Opening a run again, after a lost answer, takes no additional place.
    expect(await store.openRun({ session: session.id, run: runs[0]! })).toBe('opened');
    await acceptOne(store, session);

    await store.endRun({ session: session.id, run: runs[0]! });
    expect(await store.openRun({ session: session.id, run: more })).toBe('opened');
    await acceptOne(store, session, { run: more });
    // The limit is per session: another session can still open a run.
    const other = await openSession(store);
    expect(await store.openRun({ session: other.id, run: newRunId() })).toBe('opened');
  });
}
