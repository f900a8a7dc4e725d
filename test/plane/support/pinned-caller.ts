import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/base/json.ts';
import type { PinnedOptions } from '../../../src/exports/worker.ts';
import type { CallAnswer, CallOptions, Outcome, SessionHandle } from '../../../src/exports/client.ts';
import { spawnNode } from '../../support/process.ts';
import type { WatchedProcess } from '../../support/watched-process.ts';
import { LEASE_MS, type StagedPlane } from './stage-plane.ts';

const SCRIPT = fileURLToPath(new URL('pinned-process.mjs', import.meta.url));
export const PINNED_MODULES = fileURLToPath(new URL('../../fixtures/pinned-plane', import.meta.url));

/** A process that makes calls and serves the tools that are pinned to it. */
export interface PinnedCaller {
  readonly workerId: string;
  readonly process: WatchedProcess;
  call(session: SessionHandle, tool: string, args: JsonObject, more?: CallOptions): Promise<CallAnswer>;
  /** The outcome of a call that ends while the caller waits. */
  outcome(session: SessionHandle, tool: string, args: JsonObject, more?: CallOptions): Promise<Outcome>;
}

export async function startPinnedCaller(
  plane: StagedPlane,
  options: Partial<PinnedOptions> = {},
): Promise<PinnedCaller> {
  const full = { ...plane.storeOptions, modules: PINNED_MODULES, leaseMs: LEASE_MS, ...options };
  const child = await spawnNode(SCRIPT, [], { env: { ...process.env, PINNED: JSON.stringify(full) }, ipc: true });
  const waiting = new Map<number, (answer: CallAnswer) => void>();
  let last = 0;
  child.onMessage((message) => {
    const { id, answer } = message as { id: number; answer: CallAnswer };
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  const [, workerId] = (await child.waitForLine(/^ready \S+/)).split(' ');
  const call: PinnedCaller['call'] = (session, tool, args, more = {}) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      child.send({ id: last, session, tool, args, more: { waitMs: 60_000, ...more } });
    });
  return {
    workerId: workerId!,
    process: child,
    call,
    async outcome(...order) {
      const answer = await call(...order);
      if (answer.kind === 'pending' || answer.outcome === undefined) throw new Error(JSON.stringify(answer));
      return answer.outcome;
    },
  };
}
