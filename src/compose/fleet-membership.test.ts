import { describe, expect, it } from 'vitest';
import type { WorkerId } from '../domain/identity/ids.ts';
import type { WorkerBeat, WorkerEntry } from '../domain/ports/fleet-registry.ts';
import { createFleetMembership } from './fleet-membership.ts';

const BEAT: WorkerBeat = {
  workerId: 'worker-1' as WorkerId,
  pool: 'default',
  host: 'here',
  pid: 1,
  release: '0.1.0',
  startedAt: 1,
  state: 'serving',
  concurrency: 4,
  running: 0,
  crashes: 0,
};
const served = (...toolDigests: string[]) => ({ modules: [], toolDigests, broken: [] });

function member() {
  const said: string[] = [];
  const state = { served: served('a'), running: 0, registered: true, refuses: false };
  const membership = createFleetMembership(
    {
      registerWorker: async ({ worker }: { worker: WorkerEntry }) => {
        if (state.refuses) throw new Error('the store is away');
        said.push(`registered ${worker.toolDigests.join()} running ${worker.running}`);
      },
      beatWorker: async ({ worker }) => {
        said.push(`beat running ${worker.running}`);
        return state.registered ? 'beaten' : 'unknown';
      },
      deregisterWorker: async (workerId) => void said.push(`left ${workerId}`),
    },
    { beat: () => ({ ...BEAT, running: state.running }), served: () => state.served, ttlMs: 10_000 },
  );
  return { membership, said, state };
}

describe('fleet membership', () => {
  it('says what it serves once, and beats after that', async () => {
    const { membership, said, state } = member();
    await membership.announce();
    state.running = 3;
    await membership.announce();
    await membership.announce();
    await membership.leave();
    expect(said).toEqual(['registered a running 0', 'beat running 3', 'beat running 3', 'left worker-1']);
  });

  it('says it again when it changed', async () => {
    const { membership, said, state } = member();
    await membership.announce();
    state.served = served('a', 'b');
    await membership.announce();
    await membership.announce();
    expect(said).toEqual(['registered a running 0', 'registered a,b running 0', 'beat running 0']);
  });

  it('says it again when the store does not know it any more', async () => {
    const { membership, said, state } = member();
    await membership.announce();
    state.registered = false;
    await membership.announce();
    expect(said).toEqual(['registered a running 0', 'beat running 0', 'registered a running 0']);
  });

  it('registers again when the store did not get it', async () => {
    const { membership, said, state } = member();
    state.refuses = true;
    await expect(membership.announce()).rejects.toThrow('the store is away');
    state.refuses = false;
    await membership.announce();
    expect(said).toEqual(['registered a running 0']);
  });
});
