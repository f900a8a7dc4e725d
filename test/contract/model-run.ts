import fc from 'fast-check';
import type { Store } from '../../src/domain/ports/store.ts';
import { newCallerId, randomId } from '../../src/domain/identity/new-id.ts';
import { openSession } from './fixtures.ts';
import { expectAgreement } from './model-agreement.ts';
import { COMMANDS, type Real } from './model-commands.ts';
import { newModel, type Model } from './model.ts';

export interface ModelRuns {
  readonly runs: number;
  readonly seed: number;
  /** No new run begins after this many milliseconds. */
  readonly withinMs: number;
}

/** Runs random commands on a few calls, through two connections in turn. Throws with the shortest failing sequence; returns the number of runs. */
export async function runAgainstModel(handles: readonly [Store, Store], options: ModelRuns): Promise<number> {
  let last: { model: Model; real: Real } | undefined;
  let done = 0;
  // Every run has new data in the same store: a subject and a pool of its own.
  const prepare = async () => {
    const session = await openSession(handles[0]);
    const pool = `pool-${randomId()}`;
    last = {
      model: newModel(),
      real: { handles, turn: 0, session, pool, callerId: newCallerId(), deliveries: new Map() },
    };
    return last;
  };
  await fc.assert(
    fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 80, size: 'max' }), async (commands) => {
      await fc.asyncModelRun(prepare, commands);
      await expectAgreement(last!.model, last!.real);
      done += 1;
    }),
    {
      seed: options.seed,
      numRuns: options.runs,
      interruptAfterTimeLimit: options.withinMs,
      endOnFailure: false,
      includeErrorInReport: true,
    },
  );
  return done;
}
