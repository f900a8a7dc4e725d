import { expect } from 'vitest';
import type { LayerOptions, LayerResult } from '../../../chaos/layers/layer.ts';
import { COMMANDS, openLossyStore, type CommandKind, type LossyStore } from './lossy-store.ts';
import { runRound } from './lossy-round.ts';
import { Tally } from './tally.ts';

const FAULTS = {
  'drop-reply': 'the connection lost after the request and before its answer',
  'drop-request': 'the connection lost before the request arrived',
} as const;
const MAX = 1_000;
const LONG_ROUNDS = 4;

/**
 * For each kind of command and each k up to their number in a round, the k-th command loses its answer or never arrives. The sender
 * repeats the same request; every call still ends as it would have, once.
 */
export async function run(options: LayerOptions): Promise<LayerResult> {
  const tally = new Tally(options);
  const stores = await openLossyStore(options.store);
  try {
    for (const kind of Object.keys(COMMANDS.redis) as CommandKind[]) {
      // Every command of a run without faults. For a reclaim it is one: a lost claim leads to one reclaim, which is then lost too.
      const count = kind === 'reclaim' ? 1 : await countOf(stores, options, kind);
      for (const fault of Object.keys(FAULTS) as (keyof typeof FAULTS)[]) {
        for (let nth = 1; nth <= count; nth += 1) await lose(tally, stores, options, { kind, fault, nth });
      }
      options.log(`reply-loss: ${kind}: ${count} commands, each lost twice`);
    }
  } finally {
    await stores.stop();
  }
  return tally.result();
}

const runRounds = async (stores: LossyStore, { short }: LayerOptions): Promise<void> => {
  for (let count = 0; count < (short ? 1 : LONG_ROUNDS); count += 1) await runRound(stores);
};

/** The number of commands of a kind when nothing is lost. */
async function countOf(stores: LossyStore, options: LayerOptions, kind: CommandKind): Promise<number> {
  await stores.proxy.setMode({ kind: 'drop-reply', request: COMMANDS[options.store][kind], nth: MAX });
  await runRounds(stores, options);
  return stores.proxy.counts.matchedRequests;
}

interface Loss {
  readonly kind: CommandKind;
  readonly fault: keyof typeof FAULTS;
  readonly nth: number;
}

async function lose(
  tally: Tally,
  stores: LossyStore,
  options: LayerOptions,
  { kind, fault, nth }: Loss,
): Promise<void> {
  await tally.attempt(`${kind} ${nth}, ${FAULTS[fault]}`, async () => {
    const { proxy } = stores;
    const words = COMMANDS[options.store];
    const before = proxy.counts.droppedReplies + proxy.counts.droppedRequests;
    // A reclaim happens only after a claim was lost, so a claim is lost first.
    if (kind === 'reclaim') await proxy.setMode({ kind: 'drop-reply', request: words.claim });
    else await proxy.setMode({ kind: fault, request: words[kind], nth });
    const rounds = runRounds(stores, options);
    if (kind === 'reclaim') await loseNext(stores, { kind: fault, request: words.reclaim }, before);
    await rounds;
    const lost = proxy.counts.droppedReplies + proxy.counts.droppedRequests - before;
    expect(lost, 'commands that were lost').toBe(kind === 'reclaim' ? 2 : 1);
  });
}

type Mode = Parameters<LossyStore['proxy']['setMode']>[0];

async function loseNext({ proxy }: LossyStore, mode: Mode, before: number): Promise<void> {
  while (proxy.counts.droppedReplies + proxy.counts.droppedRequests === before) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await proxy.setMode(mode);
}
