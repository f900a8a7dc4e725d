import { describe, expect, it } from 'vitest';
import { deferred, type Deferred } from '../../test/support/sample-call.ts';
import type { WorkerId } from '../domain/identity/ids.ts';
import type { WorkerEntry } from '../domain/ports/fleet-registry.ts';
import { createFleetView } from './fleet-view.ts';

const SELF = { workerId: 'self' as WorkerId, pool: 'default' };
const worker = (workerId: string, toolDigests: readonly string[], more: Partial<WorkerEntry> = {}): WorkerEntry =>
  ({ workerId, pool: 'default', state: 'serving', toolDigests, ...more }) as unknown as WorkerEntry;

function stage(first: readonly WorkerEntry[]) {
  const state = { workers: first, reads: 0, gates: [] as Deferred<void>[] };
  const listWorkers = async (): Promise<WorkerEntry[]> => {
    state.reads += 1;
    const answer = [...state.workers];
    await state.gates.shift()?.promise;
    return answer;
  };
  return { state, view: createFleetView({ listWorkers }, SELF) };
}

describe('the fleet view', () => {
  it('counts who serves a definition and who does not, itself among these', async () => {
    const { view } = stage([worker('self', ['old']), worker('a', ['old']), worker('b', ['new']), worker('c', ['new'])]);
    expect(await view.peersFor('new')).toEqual({ serving: 2, notServing: 2 });
  });

  it('counts neither workers of other pools nor those that drain', async () => {
    const { view } = stage([
      worker('self', ['old']),
      worker('a', ['new'], { pool: 'other' }),
      worker('b', ['new'], { state: 'draining' }),
    ]);
    expect(await view.peersFor('new')).toEqual({ serving: 0, notServing: 1 });
  });

  it('asks the registry once while a worker is known, and again each time none is', async () => {
    const { view, state } = stage([worker('a', ['new'])]);
    for (let each = 0; each < 5; each += 1) await view.peersFor('new');
    expect(state.reads).toBe(1);
    for (let each = 0; each < 3; each += 1) await view.peersFor('unheard-of');
    expect(state.reads).toBe(4);
  });

  it('answers that no worker serves only from a read after the question, and reads once for all concurrent questions', async () => {
    const { view, state } = stage([worker('a', ['old'])]);
    const [slow, next] = [deferred(), deferred()];
    state.gates.push(slow, next);
    const early = view.peersFor('new');
    // Worker b registers while the answer to the first read is still on its way.
    state.workers = [worker('a', ['old']), worker('b', ['new'])];
    const late = [view.peersFor('new'), view.peersFor('new'), view.peersFor('new')];
    slow.resolve();
    expect(await early).toMatchObject({ serving: 0 });
    next.resolve();
    expect(await Promise.all(late)).toMatchObject([{ serving: 1 }, { serving: 1 }, { serving: 1 }]);
    expect(state.reads).toBe(2);
  });
});
