import { describe, expect, it } from 'vitest';
import type { LayerOptions, LayerResult } from '../../chaos/layers/layer.ts';
import { run as runCrashPoints } from './layers/crash-points.ts';
import { run as runInterleavings } from './layers/interleavings.ts';
import { run as runReplyLoss } from './layers/reply-loss.ts';
import { run as runStorage } from './layers/storage.ts';

/** The layers in their short form. The model-based layer is missing, because the contract suite runs it already. */
const LAYERS: Readonly<Record<string, (options: LayerOptions) => Promise<LayerResult>>> = {
  interleavings: runInterleavings,
  storage: runStorage,
  'reply loss': runReplyLoss,
  'crash points': runCrashPoints,
};

describe.each(['redis', 'embedded'] as const)('chaos layers on %s', (store) => {
  it.each(Object.entries(LAYERS))('%s finds nothing wrong', { timeout: 600_000 }, async (_, run) => {
    const { tried, details } = await run({ store, short: true, log: () => undefined });
    expect(details).toEqual([]);
    expect(tried).toBeGreaterThan(5);
  });
});
