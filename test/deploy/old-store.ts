import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { AskRequest } from '../../src/domain/ports/approval-store.ts';
import type { Store } from '../../src/domain/ports/store.ts';
import {
  acceptOne,
  acceptRequest,
  ALICE,
  allow,
  askAbout,
  cancelRequest,
  claimMany,
  claimOne,
  decideRequest,
  detail,
  encodedOutcome,
  openSession,
  settleRequest,
  startRequest,
  type CallOverrides,
  type TestSession,
  POOL,
} from '../contract/fixtures.ts';
import { askedCallId, callIdFor, newWorkerId } from '../../src/domain/identity/new-id.ts';

/**
 * Stores as an earlier release left them, with calls in every state. They were made with that release's own code and are never made
 * again. Before the schema or the functions change, make new ones under a new name:
 * `MAKE_OLD_STORES=1 npx vitest run --project integration test/deploy/upgrade.test.ts`.
 */
export const OLD_STORES = fileURLToPath(new URL('../fixtures/stores/', import.meta.url));

export interface OldStoreFacts {
  readonly session: TestSession;
  readonly settled: string;
  readonly running: string;
  readonly queued: string;
  readonly asked: AskRequest;
}

/** A lifetime so long that nothing in an old store expires by itself. */
export const CENTURY_MS = 100 * 365 * 24 * 3_600_000;

export async function fillOldStore(store: Store): Promise<OldStoreFacts> {
  const session = await openSession(store, { subject: 'ada', lifetimeMs: CENTURY_MS, idleMs: CENTURY_MS });
  const long = { deadlineMs: CENTURY_MS };
  const policy = { permissions: { '*': { allow: ['*'], deny: [] } }, roles: {} };
  await store.writePolicy({ expectedVersion: 0, policy: policy as never });
  const settled = await acceptOne(store, session, { ...long, key: 'settled' });
  const done = settleRequest(await claimOne(store), encodedOutcome('ok', 'kept'), { retentionMs: CENTURY_MS });
  expect(await store.settleCall(done)).toBe('settled');
  const running = await acceptOne(store, session, { ...long, key: 'running' });
  expect(await store.startCall(startRequest(await claimOne(store)))).toMatchObject({ kind: 'started' });
  await acceptOne(store, session, { ...long, key: 'parked' });
  const asked = await askAbout(store, await claimOne(store));
  const queued = await acceptOne(store, session, { ...long, key: 'queued' });
  return { session, settled, running, queued, asked };
}

export function keepFacts(name: string, facts: OldStoreFacts): void {
  writeFileSync(join(OLD_STORES, `${name}.json`), `${JSON.stringify(facts, undefined, 2)}\n`);
}

/**
 * Keys of the earlier release belonged to the subject alone. They still hold for the agent that used them, in its old session and in a
 * new one, and are not there for other agents of the subject.
 */
async function expectKeysKept(store: Store, { session, settled, running }: OldStoreFacts): Promise<void> {
  const renewed = await openSession(store, session.identity);
  const other = await openSession(store, { ...session.identity, agent: 'other' });
  const withKey = ({ id }: TestSession, key: string) => ({ key, callId: askedCallId(id, key)! });
  const accept = (by: TestSession, key: string, overrides: CallOverrides = {}) =>
    store.acceptCall(acceptRequest(by, { ...withKey(by, key), ...overrides }));
  for (const by of [session, renewed]) {
    expect(await accept(by, 'settled')).toMatchObject({ kind: 'replayed', callId: settled });
    expect(await accept(by, 'running')).toMatchObject({ kind: 'attached', callId: running });
    expect(await accept(by, 'settled', { arguments: '{"n":2}' })).toEqual({ kind: 'conflict', callId: settled });
  }
  // A key that is first used in a new session and then in the old session stands for one call.
  const made = await accept(renewed, 'made since');
  expect(made).toEqual({ kind: 'accepted', callId: callIdFor(renewed.id, 'made since') });
  expect(await accept(session, 'made since')).toMatchObject({ ...made, kind: 'attached' });
  for (const key of ['settled', 'running']) {
    expect(await accept(other, key)).toEqual({ kind: 'accepted', callId: callIdFor(other.id, key) });
    expect(await store.cancelCall(cancelRequest(callIdFor(other.id, key)!))).toBe('cancelled');
  }
  expect(await store.cancelCall(cancelRequest(callIdFor(renewed.id, 'made since')!))).toBe('cancelled');
}

/** Checks that a new release can continue everything in the old store: keys, queued and running calls, and an open question. */
export async function finishOldStore(store: Store, facts: OldStoreFacts): Promise<void> {
  const { session, settled, running, queued, asked } = facts;
  expect(await store.readPolicy()).toMatchObject({ version: 1 });
  expect(await store.acceptCall(acceptRequest(session, { key: 'settled' }))).toMatchObject({ kind: 'replayed' });
  expect(await store.readCall(settled as never)).toMatchObject({ state: 'settled' });
  await expectKeysKept(store, facts);

  const waiting = await claimOne(store);
  expect(waiting.callId).toBe(queued);
  expect(await store.settleCall(settleRequest(waiting))).toBe('settled');

  const request = { lane: 0, pool: POOL, workerId: newWorkerId(), limit: 10, leaseMs: 1 };
  const { deliveries } = await store.reclaimCalls(request);
  expect(deliveries).toMatchObject([{ callId: running, recovered: { starts: 1, wasRunning: true, effect: 'unsafe' } }]);
  expect(await store.startCall(startRequest(deliveries[0]!))).toStrictEqual({ kind: 'may-have-run' });
  expect(await store.settleCall(settleRequest(deliveries[0]!))).toBe('settled');

  // The old question has no list of masks, so the store cannot know whether approvers see all of it: it can be allowed only after a reveal.
  expect(await store.decideApproval(decideRequest(asked))).toStrictEqual({ kind: 'not-revealed' });
  const { id, binding } = asked.question;
  await store.revealApproval({ id, binding, by: ALICE, audit: detail('seen') });
  await allow(store, asked);
  const [resumed] = await claimMany(store);
  expect(resumed).toMatchObject({ callId: asked.question.callId, resumedWith: { approval: asked.question.id } });
  expect(await store.settleCall(settleRequest(resumed!))).toBe('settled');
  expect(await store.listCalls({ limit: 10 })).toStrictEqual([]);
  await acceptOne(store, session, { key: 'new' });
}
