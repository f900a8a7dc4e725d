import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Scene } from '../scene.ts';
import { newModel, type Model } from '../model.ts';
import { COMMANDS, type Real } from '../model-commands.ts';
import { expectAgreement } from '../model-agreement.ts';
import { openSession } from '../fixtures.ts';
import { newCallerId, randomId } from '../../../src/wire/ids.ts';

const RUNS = 100;

export function describeModelBased(scene: Scene): void {
  it('whatever happens to a few calls, the store answers as the model does and ends with the same records', async () => {
    const [first, second] = await scene.openPair();
    let last: { model: Model; real: Real } | undefined;
    // New data for every run, in the same store: a subject and a pool of its own.
    const prepare = async () => {
      const session = await openSession(first);
      const pool = `pool-${randomId()}`;
      last = {
        model: newModel(),
        real: { handles: [first, second], turn: 0, session, pool, callerId: newCallerId(), deliveries: new Map() },
      };
      return last;
    };
    await fc.assert(
      fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 80, size: 'max' }), async (commands) => {
        await fc.asyncModelRun(prepare, commands);
        await expectAgreement(last!.model, last!.real);
      }),
      { numRuns: RUNS, interruptAfterTimeLimit: 45_000, endOnFailure: false, includeErrorInReport: true },
    );
    expect(last).toBeDefined();
  });
}
