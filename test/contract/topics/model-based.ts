import { randomInt } from 'node:crypto';
import { expect, it } from 'vitest';
import { runAgainstModel } from '../model-run.ts';
import type { Scene } from '../scene.ts';

/** The number of runs here. `npm run chaos` makes thousands of them, with chaos/layers. */
const RUNS = 40;

export function describeModelBased(scene: Scene): void {
  it('after any commands on a few calls, the store answers as the model does and ends with the same records', async () => {
    const options = { runs: RUNS, seed: randomInt(2 ** 31), withinMs: 45_000 };
    expect(await runAgainstModel(await scene.openPair(), options)).toBeGreaterThan(0);
  });
}
