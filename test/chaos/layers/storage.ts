import type { LayerOptions, LayerResult } from '../../../chaos/layers/layer.ts';
import { tortureEmbedded } from './storage-embedded.ts';
import { tortureRedis } from './storage-redis.ts';
import { Tally } from './tally.ts';

export async function run(options: LayerOptions): Promise<LayerResult> {
  const tally = new Tally(options);
  await (options.store === 'redis' ? tortureRedis : tortureEmbedded)(tally, options);
  return tally.result();
}
