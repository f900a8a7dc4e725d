import { expect } from 'vitest';
import type { Attempt } from '../../src/domain/call/attempt.ts';
import type { Delivery, SettledAttempt, SettleRequest } from '../../src/domain/ports/call-requests.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import { decodeHistory } from '../support/decode-history.ts';
import {
  acceptOne,
  claimMany,
  encodedOutcome,
  holdOne,
  settleRequest,
  type CallOverrides,
  type TestSession,
} from './fixtures.ts';

export const RESULT = 'r3sult__';

/** Arguments that differ for each number. */
export const args = (value: number): CallOverrides => ({ arguments: `{"n":${value}}` });

export function settled(
  delivery: Delivery,
  ending: SettledAttempt['ending'],
  more: Partial<SettledAttempt> = {},
): SettleRequest {
  const { session, run } = delivery;
  const attempt = { session, run, ending, result: RESULT, ...more };
  return settleRequest(delivery, encodedOutcome('ok'), { attempt });
}

export async function attemptOne(
  store: Store,
  session: TestSession,
  ending: SettledAttempt['ending'] = 'ok',
  overrides: CallOverrides = {},
): Promise<Delivery> {
  const delivery = await holdOne(store, session, overrides);
  expect(await store.settleCall(settled(delivery, ending))).toBe('settled');
  return delivery;
}

/** Accepts all calls at the same moment and claims them. Returns the deliveries by the number that each call has in its run. */
export async function holdAll(
  store: Store,
  session: TestSession,
  calls: readonly CallOverrides[],
): Promise<readonly Delivery[]> {
  await Promise.all(calls.map((overrides) => acceptOne(store, session, overrides)));
  const deliveries = await claimMany(store, { lane: session.lane });
  expect(deliveries).toHaveLength(calls.length);
  return deliveries.toSorted((one, other) => one.runState.sequence - other.runState.sequence);
}

export async function attemptAll(
  store: Store,
  session: TestSession,
  calls: readonly CallOverrides[],
  ending: SettledAttempt['ending'] = 'ok',
): Promise<readonly Delivery[]> {
  const deliveries = await holdAll(store, session, calls);
  await Promise.all(deliveries.map((delivery) => store.settleCall(settled(delivery, ending))));
  return deliveries;
}

export function historyOf({ history, runState }: Delivery): Attempt[] | undefined {
  return history === undefined ? undefined : decodeHistory(history, runState.sequence);
}
