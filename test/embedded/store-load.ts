import { expect } from 'vitest';
import type { CallId } from '../../src/domain/identity/ids.ts';
import { PlaneError } from '../../src/domain/errors/errors.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { acceptOne, claimMany, newWaiter, openSession, settleRequest } from '../contract/fixtures.ts';
import { drainReplies, readCallAudit, recordOf } from '../contract/observe.ts';

/** Repeats a step until the store fails, and returns the code of the failure. Returns an empty text if the step has nothing left to do. */
async function untilFailure(step: () => Promise<boolean | void>): Promise<string> {
  for (;;) {
    try {
      if ((await step()) === true) return '';
    } catch (error) {
      if (error instanceof PlaneError) return error.code;
      throw error;
    }
  }
}

export interface Load {
  readonly accepted: CallId[];
  readonly settled: CallId[];
  readonly waiter: ReturnType<typeof newWaiter>;
  /** The codes of the failures that ended the callers and workers. A worker that settled all calls has none. */
  readonly ended: Promise<string[]>;
}

/** Starts callers and workers. They record only what the store answered. */
export async function startLoad(store: Store): Promise<Load> {
  const accepted: CallId[] = [];
  const settled: CallId[] = [];
  const waiter = newWaiter();
  const session = await openSession(store);
  const caller = () =>
    untilFailure(async () => void accepted.push(await acceptOne(store, session, { waiter, arguments: '{"n":1}' })));
  let callersAreOver = false;
  const worker = () =>
    untilFailure(async () => {
      const wasOver = callersAreOver;
      const claimed = await claimMany(store, { waitMs: wasOver ? 0 : 100, limit: 8 });
      for (const delivery of claimed) {
        expect(await store.settleCall(settleRequest(delivery))).toBe('settled');
        settled.push(delivery.callId);
      }
      return wasOver && claimed.length === 0;
    });
  const callers = Promise.all(Array.from({ length: 16 }, caller));
  void callers.finally(() => (callersAreOver = true)).catch(() => undefined);
  const ended = Promise.all([callers, worker(), worker()]).then((codes) => codes.flat().filter((code) => code !== ''));
  return { accepted, settled, waiter, ended };
}

export async function expectNothingLost(store: Store, { accepted, settled, waiter }: Load): Promise<void> {
  const missing = [];
  for (const callId of accepted) if ((await store.readCall(callId)) === undefined) missing.push(callId);
  expect(missing, 'accepted calls that are gone').toEqual([]);
  for (const callId of settled) expect(await recordOf(store, callId)).toMatchObject({ state: 'settled' });
  // Outcome, reply and audit record are written in one step, so there is the same number of each, even where the answer was lost.
  const audit = await readCallAudit(store, 0);
  const replies = await drainReplies(store, 0, waiter.callerId);
  expect(new Set(audit.map((entry) => entry.callId)).size).toBe(audit.length);
  expect(replies).toHaveLength(audit.length);
  expect(audit.map((entry) => entry.callId)).toEqual(expect.arrayContaining(settled));
}
