import { errorOutcome } from '../errors/errors.ts';
import { RUN_ENDED_ADVICE } from '../errors/gate-errors.ts';
import type { Outcome } from '../outcome/outcome.ts';
import type { SessionEnding } from './session.ts';

/**
 * The outcome of a call in a run that loop detection ended. `restMs`: the conversation gets no new run for this long. It is left out for
 * calls that were accepted before the run ended.
 */
export function runEndedByLoop(restMs?: number): Outcome {
  const rest = restMs === undefined ? {} : { restMs };
  const facts = { message: RUN_ENDED_ADVICE, detector: 'ended', scope: 'run', ...rest };
  return errorOutcome('RUN_ENDED_BY_LOOP', facts);
}

/** The outcome of an accepted call whose session or run ended before its tool started. */
export function sessionEnded(ending: SessionEnding): Outcome {
  return ending === 'run-ended' ? runEndedByLoop() : errorOutcome('SESSION_ENDED', { ending });
}

/**
 * How long the conversation gets no new run, in ms, if the gate ended the run with this outcome; else undefined. Calls that were queued at
 * that moment get the same code, but do not end the run.
 */
export function restAfterLoop({ kind, error }: Outcome): number | undefined {
  // A tool can put any code into its own failure, but the outcome is then not `blocked`. So no tool can end its run with this code.
  if (kind !== 'blocked') return undefined;
  const restMs = error?.code === 'RUN_ENDED_BY_LOOP' ? error.facts?.['restMs'] : undefined;
  return typeof restMs === 'number' ? restMs : undefined;
}

/**
 * Whether a refused call may be made again in a new run: its run no longer exists, or loop detection ended it and the rest time is over.
 */
export function mayOpenNextRun({ error }: Outcome): boolean {
  if (error?.code === 'RUN_UNKNOWN') return true;
  return error?.code === 'RUN_ENDED_BY_LOOP' && error.facts?.['restMs'] === 0;
}
