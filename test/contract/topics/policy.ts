import { expect, it } from 'vitest';
import { CLOSED_POLICY, type Policy } from '../../../src/domain/policy/policy.ts';
import { acceptOne, claimOne, openSession } from '../fixtures.ts';
import { laneState } from '../observe.ts';
import type { Scene } from '../scene.ts';

const OPEN: Policy = {
  roles: { ops: ['ann', 'böb'] },
  permissions: { '*': { allow: ['*'] }, 'shell.run': { allow: ['role:ops'], deny: ['eve'] } },
  paused: { agents: ['rogue'] },
};

export function describePolicy(scene: Scene): void {
  it('a new store is closed, at version 0', async () => {
    const store = await scene.open();
    expect(await store.readPolicy()).toEqual({ version: 0, policy: CLOSED_POLICY });
  });

  it('writePolicy stores the whole record under the next version, for every connection', async () => {
    const [store, other] = await scene.openPair();
    expect(await store.writePolicy({ expectedVersion: 0, policy: OPEN })).toEqual({ kind: 'written', version: 1 });
    expect(await other.readPolicy()).toEqual({ version: 1, policy: OPEN });
    expect(await other.writePolicy({ expectedVersion: 1, policy: CLOSED_POLICY })).toEqual({
      kind: 'written',
      version: 2,
    });
    expect(await store.readPolicy()).toEqual({ version: 2, policy: CLOSED_POLICY });
  });

  it('readNewerPolicy gives the record to who knows an older version or none, and nothing to who knows it', async () => {
    const [store, other] = await scene.openPair();
    expect(await store.readNewerPolicy({ after: -1 })).toEqual({ version: 0, policy: CLOSED_POLICY });
    expect(await store.readNewerPolicy({ after: 0 })).toBeUndefined();
    await other.writePolicy({ expectedVersion: 0, policy: OPEN });
    expect(await store.readNewerPolicy({ after: 0 })).toEqual({ version: 1, policy: OPEN });
    expect(await store.readNewerPolicy({ after: 1 })).toBeUndefined();
    await other.writePolicy({ expectedVersion: 1, policy: CLOSED_POLICY });
    expect(await store.readNewerPolicy({ after: 0 })).toEqual({ version: 2, policy: CLOSED_POLICY });
  });

  it('writePolicy made for another version changes nothing and names the current one', async () => {
    const store = await scene.open();
    await store.writePolicy({ expectedVersion: 0, policy: OPEN });
    const before = await laneState(store, 0);
    for (const expectedVersion of [0, 2]) {
      expect(await store.writePolicy({ expectedVersion, policy: CLOSED_POLICY })).toEqual({
        kind: 'conflict',
        version: 1,
      });
    }
    expect(await store.readPolicy()).toEqual({ version: 1, policy: OPEN });
    expect((await laneState(store, 0)).policyVersion).toBe(before.policyVersion);
  });

  it('writePolicy repeated after a lost answer says written again and writes once', async () => {
    const store = await scene.open();
    const request = { expectedVersion: 0, policy: OPEN };
    expect(await store.writePolicy(request)).toEqual({ kind: 'written', version: 1 });
    expect(await store.writePolicy(request)).toEqual({ kind: 'written', version: 1 });
    await store.writePolicy({ expectedVersion: 1, policy: { ...OPEN, paused: { agents: ['main'] } } });
    expect(await store.writePolicy(request)).toEqual({ kind: 'conflict', version: 2 });
  });

  it('writePolicy by two writers lets exactly one win, every time', async () => {
    const [store, other] = await scene.openPair();
    for (let version = 0; version < 10; version += 1) {
      const write = (writer: typeof store, agent: string) =>
        writer.writePolicy({ expectedVersion: version, policy: { ...OPEN, paused: { agents: [agent] } } });
      const answers = await Promise.all([write(store, 'left'), write(other, 'right')]);
      expect(answers.map((answer) => answer.kind).sort()).toEqual(['conflict', 'written']);
      const winner = answers[0]!.kind === 'written' ? 'left' : 'right';
      expect(await other.readPolicy()).toEqual({
        version: version + 1,
        policy: { ...OPEN, paused: { agents: [winner] } },
      });
    }
  });

  it('every lane has moved when writePolicy has returned', async () => {
    const store = await scene.open();
    const lanes = Array.from({ length: store.lanes }, (_, lane) => lane);
    const before = await Promise.all(lanes.map((lane) => laneState(store, lane)));
    await store.writePolicy({ expectedVersion: 0, policy: OPEN });
    const after = await Promise.all(lanes.map((lane) => laneState(store, lane)));
    for (const lane of lanes) {
      expect(after[lane]!.policyVersion).toBe(1);
      expect(after[lane]!.epoch).not.toBe(before[lane]!.epoch);
    }
  });

  it('a call accepted before a policy change is claimed with an old epoch, one accepted after it is not', async () => {
    const store = await scene.open();
    const session = await openSession(store);
    await acceptOne(store, session);
    await store.writePolicy({ expectedVersion: 0, policy: OPEN });
    const { epoch } = await laneState(store, session.lane);
    expect((await claimOne(store, { lane: session.lane })).epoch).not.toBe(epoch);
    await acceptOne(store, session);
    expect((await claimOne(store, { lane: session.lane })).epoch).toBe(epoch);
  });
}
