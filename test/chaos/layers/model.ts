import { randomInt } from 'node:crypto';
import type { LayerOptions, LayerResult } from '../../../chaos/layers/layer.ts';
import { runAgainstModel } from '../../contract/model-run.ts';
import { withStorePair } from './store-pair.ts';
import { Tally } from './tally.ts';

/** Each batch has a store of its own, because the whole audit of the lane is read after every run. */
const RUNS_PER_BATCH = 100;
const LONG_BATCHES = 50;
const SHORT_BATCHES = 1;
const BATCH_WITHIN_MS = 120_000;

/** Runs many batches of the model-based test, each from a seed that is logged. The contract suite runs only one. */
export async function run(options: LayerOptions): Promise<LayerResult> {
  const tally = new Tally(options);
  const first = Number(process.env.CHAOS_MODEL_SEED ?? randomInt(2 ** 31));
  options.log(`model: seed ${first} (CHAOS_MODEL_SEED repeats it)`);
  for (let batch = 0; batch < (options.short ? SHORT_BATCHES : LONG_BATCHES); batch += 1) {
    const seed = (first + batch) | 0;
    const runs = { runs: RUNS_PER_BATCH, seed, withinMs: BATCH_WITHIN_MS };
    try {
      tally.tried += await withStorePair(options.store, (handles) => runAgainstModel(handles, runs));
    } catch (error) {
      tally.tried += 1;
      tally.violate(`seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
    }
    if (tally.violated > 0) break;
  }
  return tally.result();
}
