import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { LayerOptions } from '../../../chaos/layers/layer.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { openEmbeddedStore } from '../../../src/stores/embedded/embedded-store.ts';
import { readPlaneAddress, writePlaneAddress } from '../../../src/stores/embedded/ownership.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { startChaosProxy, type ChaosProxy } from '../../support/chaos-proxy.ts';
import { temporaryFolder } from '../../support/process.ts';
import { startRedis } from '../../support/redis-server.ts';

/** The commands of callers and workers, by the words that go over the wire. */
export const COMMANDS = {
  redis: {
    accept: 'sp1_accept_calls',
    claim: 'XREADGROUP',
    reclaim: 'sp1_reclaim_calls',
    renew: 'sp1_renew_calls',
    start: 'sp1_start_calls',
    settle: 'sp1_settle_calls',
    abandon: 'sp1_abandon_call',
    park: 'sp1_ask_approval',
    decide: 'sp1_decide_approval',
    cancel: 'sp1_cancel_call',
  },
  embedded: {
    accept: 'acceptCall',
    claim: 'claimCalls',
    reclaim: 'reclaimCalls',
    renew: 'renewCalls',
    start: 'startCall',
    settle: 'settleCall',
    abandon: 'abandonCall',
    park: 'askApproval',
    decide: 'decideApproval',
    cancel: 'cancelCall',
  },
} as const;
export type CommandKind = keyof (typeof COMMANDS)['redis'];

/** One store, reached over two connections: one that can lose an answer, and one that cannot. */
export interface LossyStore {
  readonly lossy: Store;
  readonly sure: Store;
  readonly proxy: ChaosProxy;
  stop(): Promise<void>;
}

export function openLossyStore(kind: LayerOptions['store']): Promise<LossyStore> {
  return kind === 'redis' ? openLossyRedis() : openLossyEmbedded();
}

async function openLossyRedis(): Promise<LossyStore> {
  const server = await startRedis();
  const proxy = await startChaosProxy({ port: server.port });
  const sure = await openRedisStore({ url: server.url });
  const lossy = await openRedisStore({ url: proxy.url });
  const stop = async (): Promise<void> => {
    await lossy.close();
    await sure.close();
    await proxy.stop();
    await server.stop();
  };
  return { lossy, sure, proxy, stop };
}

/** Writes the owner's address file, with the proxy's socket instead of the owner's, into a second folder that no process owns. */
async function openLossyEmbedded(): Promise<LossyStore> {
  const folder = temporaryFolder('sallyport-lossy');
  const owned = join(folder.path, 'owned');
  const reached = join(folder.path, 'reached');
  const sure = await openEmbeddedStore({ folder: owned, mode: 'own' });
  const proxy = await startChaosProxy({ path: readPlaneAddress(owned)!.socket });
  mkdirSync(reached);
  writePlaneAddress(reached, proxy.path!);
  const lossy = await openEmbeddedStore({ folder: reached, mode: 'connect' });
  const stop = async (): Promise<void> => {
    await lossy.close();
    await proxy.stop();
    await sure.close();
    folder.remove();
  };
  return { lossy, sure, proxy, stop };
}
