import { expect, it } from 'vitest';
import { toolId, type ToolId } from '../../../src/domain/identity/ids.ts';
import type { OwnedCall } from '../../../src/domain/ports/call-requests.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { newRunId } from '../../../src/domain/identity/new-id.ts';
import { acceptRequest, claimOne, holdOne, openSession, ownedBy, POOL, settleRequest, TOOL } from '../fixtures.ts';
import { laneState, reclaimOne } from '../observe.ts';
import type { Scene } from '../scene.ts';
import type { TestSession } from '../fixtures.ts';

const [READ, EDIT, SEND] = ['read', 'edit', 'send'].map((name) => toolId('mail', name)) as [ToolId, ToolId, ToolId];

const inject = (store: Store, call: OwnedCall, tools: readonly ToolId[], limit = 100) =>
  store.injectTools({ ...ownedBy(call), tools, limit });

async function grantsOf(store: Store, session: TestSession): Promise<string[]> {
  const { injected = [] } = (await store.readSession(session.id))!;
  return injected.map(({ run, tool, by }) => `${run} ${tool} ${by}`).sort();
}

export function describeInjected(scene: Scene): void {
  it('injectTools notes what a call offers with its own run, by its tool, for every connection to read', async () => {
    const [store, other] = await scene.openPair();
    const session = await openSession(store);
    await store.openRun({ session: session.id, run: newRunId() });
    const before = await laneState(store, session.lane);
    const call = await holdOne(store, session);
    expect(await inject(store, call, [READ, EDIT])).toEqual({ kind: 'injected', tools: [READ, EDIT] });
    expect(await inject(store, call, [EDIT, SEND])).toEqual({ kind: 'injected', tools: [EDIT, SEND] });
    const expected = [READ, EDIT, SEND].map((tool) => `${session.run} ${tool} ${TOOL}`).sort();
    expect(await grantsOf(other, session)).toEqual(expected);
    expect((await laneState(store, session.lane)).epoch).toBe(before.epoch);
    expect((await store.readSession(session.id))!.runs).toHaveLength(2);
  });

  it('injectTools of two tools that offer the same keeps both, because each can lose its right', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const another = toolId('mail', 'open');
    await inject(store, await holdOne(store, session), [READ]);
    await inject(store, await holdOne(store, session, { tool: another }), [READ]);
    expect(await grantsOf(store, session)).toEqual(
      [`${session.run} ${READ} ${TOOL}`, `${session.run} ${READ} ${another}`].sort(),
    );
  });

  it('injectTools keeps no more than its limit for one run, and says which', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const call = await holdOne(store, session);
    expect(await inject(store, call, [READ, EDIT, SEND], 2)).toEqual({ kind: 'injected', tools: [READ, EDIT] });
    expect(await inject(store, call, [SEND, READ], 2)).toEqual({ kind: 'injected', tools: [READ] });
    expect(await grantsOf(store, session)).toHaveLength(2);
  });

  it('injectTools refuses a worker that lost the call, and one that has settled it', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const lost = await holdOne(store, session);
    const current = await reclaimOne(store, lost);
    expect(await inject(store, lost, [READ])).toEqual({ kind: 'fenced' });
    expect(await store.settleCall(settleRequest(current))).toBe('settled');
    expect(await inject(store, current, [READ])).toEqual({ kind: 'fenced' });
    expect(await grantsOf(store, session)).toEqual([]);
  });

  it('injected tools are removed with their run, and stay in the others', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    const run = newRunId();
    await store.openRun({ session: session.id, run });
    await inject(store, await holdOne(store, session), [READ]);
    await store.acceptCall({ ...acceptRequest({ ...session, run }) });
    await inject(store, await claimOne(store, { lane: session.lane, pool: POOL }), [EDIT]);
    expect(await grantsOf(store, session)).toHaveLength(2);
    await store.endRun({ session: session.id, run });
    expect(await grantsOf(store, session)).toEqual([`${session.run} ${READ} ${TOOL}`]);
    await store.openRun({ session: session.id, run });
    expect(await grantsOf(store, session)).toEqual([`${session.run} ${READ} ${TOOL}`]);
  });

  it('injectTools keeps nothing for a run or a session that has ended', async () => {
    const store = await scene.open();
    const [session, revoked] = [await openSession(store), await openSession(store)];
    const call = await holdOne(store, session);
    await store.endRun({ session: session.id, run: session.run });
    expect(await inject(store, call, [READ])).toEqual({ kind: 'injected', tools: [] });
    const late = await holdOne(store, revoked);
    await store.revokeSession({ session: revoked.id });
    expect(await inject(store, late, [READ])).toEqual({ kind: 'injected', tools: [] });
    for (const each of [session, revoked]) expect(await grantsOf(store, each)).toEqual([]);
  });
}
