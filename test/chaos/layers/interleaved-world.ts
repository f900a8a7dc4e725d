import type { WorkerId } from '../../../src/domain/identity/ids.ts';
import type { Effect } from '../../../src/domain/tool/tool.ts';
import type { Delivery } from '../../../src/domain/ports/call-requests.ts';
import { newCallerId, newWorkerId, randomId } from '../../../src/domain/identity/new-id.ts';
import { openSession } from '../../contract/fixtures.ts';
import type { Real } from '../../contract/model-commands.ts';
import { newModel, type Model, type ModelCall } from '../../contract/model.ts';
import type { LapsingStore } from './lapsing-store.ts';

export const KEYS = ['a', 'b'] as const;
export type Key = (typeof KEYS)[number];
export const EFFECT_OF: Readonly<Record<Key, Effect>> = { a: 'idempotent', b: 'unsafe' };
export const WORKERS = [1, 2] as const;
export type Worker = (typeof WORKERS)[number];

/** The key of a worker's memory of a call. A worker that took over its own call still has a thread with the previous lease (`before`). */
export type Memory = `${Worker} ${Key}` | `${Worker}, before, ${Key}`;

/** What a worker remembers of a call: its last delivery, and the number of that delivery among all deliveries of the call. */
export interface Remembered {
  readonly delivery: Delivery;
  readonly number: number;
}

/** Two calls and two workers in a store, together with the model of them. */
export interface World {
  readonly model: Model;
  readonly real: Real;
  readonly lapsing: LapsingStore;
  readonly workerIds: Readonly<Record<Worker, WorkerId>>;
  readonly remembered: Map<Memory, Remembered>;
  /** Ids of the calls to be delivered, in the order in which they were queued. */
  queue: string[];
  /** Calls whose lease ran out. `maybe`: the call was started since then. One store treats that as a renewal of the lease, the other does not. */
  readonly lapsed: Map<string, 'yes' | 'maybe'>;
  revoked: boolean;
}

export async function newWorld(lapsing: LapsingStore): Promise<World> {
  const { store } = lapsing;
  const session = await openSession(store);
  const pool = `pool-${randomId()}`;
  return {
    model: newModel(),
    real: { handles: [store, store], turn: 0, session, pool, callerId: newCallerId(), deliveries: new Map() },
    lapsing,
    workerIds: { 1: newWorkerId(), 2: newWorkerId() },
    remembered: new Map(),
    queue: [],
    lapsed: new Map(),
    revoked: false,
  };
}

export const isOwned = (call: ModelCall): boolean => call.state === 'held' || call.state === 'running';

/** Everything that decides what can happen next, without ids and numbers. Worlds with the same key count as the same state. */
export function stateKey(world: World): string {
  const { model, remembered, queue, lapsed, revoked } = world;
  const calls = KEYS.map((key) => {
    const call = model.current.get(key);
    if (call === undefined) return 'none';
    const memories = WORKERS.flatMap((worker): Memory[] => [`${worker} ${key}`, `${worker}, before, ${key}`]);
    const relations = memories.map((memory) => {
      const known = remembered.get(memory);
      if (known === undefined) return '-';
      const { number } = known;
      const asked = model.asked.has(`${call.callId} ${number}`);
      return [call.holder === number, call.markedBy === number, call.endedBy.get(number) ?? '', asked].join(',');
    });
    const last = call.approvals.at(-1);
    return [
      call.state,
      call.starts,
      call.deliveries > 0,
      call.cancelRequested,
      call.cancelledByStore,
      call.outcomes.join('/'),
      call.waiters.length,
      last === undefined ? '' : `${last.state} ${last.votes.map(([, decision]) => decision).join('/')}`,
      lapsed.get(call.callId) ?? '',
      queue.indexOf(call.callId),
      ...relations,
    ].join(';');
  });
  const accepted = KEYS.indexOf(KEYS.find((key) => model.current.get(key) === model.calls.values().next().value)!);
  return [...calls, revoked, accepted].join(' | ');
}
