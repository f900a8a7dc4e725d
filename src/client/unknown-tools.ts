import { errorOutcome } from '../domain/errors/errors.ts';
import { settingsFor } from '../domain/policy/loop-settings.ts';
import { withAdvice, type Outcome } from '../domain/outcome/outcome.ts';
import type { Identity } from '../domain/identity/session.ts';
import type { SessionId } from '../domain/identity/ids.ts';
import { detectLoop } from '../gate/loop/detect-loop.ts';
import { endOfAttempt } from '../gate/loop/end-of-attempt.ts';
import { type LoopBlock } from '../domain/policy/loop-verdict.ts';
import { factsOfBlock, RUN_ENDED } from '../gate/loop/loop-verdict.ts';
import { createRunMemory, type RunMemory } from '../gate/wrap/run-memory.ts';
import type { PolicyReader } from '../domain/ports/policy-store.ts';
import type { RunEnds } from '../domain/ports/session-store.ts';
import type { Caller } from './known-sessions.ts';

/**
 * Answers calls to names that no published tool has. Such a call has no pool, so no worker gets it. Instead this process counts such calls
 * per run with the agent's loop settings. As a worker does for other calls, it first adds an advice, then blocks the calls, and in the end
 * ends the run.
 */
export interface UnknownTools {
  refuse(session: Caller, name: string): Promise<Outcome>;
}

interface Needs {
  readonly store: RunEnds & PolicyReader;
  readonly identityOf: (session: SessionId) => Promise<Identity>;
  /** Throws if the token is not the session's. A caller without the right token must not be able to end a run. */
  readonly prove: (session: Caller) => Promise<void>;
}

/** Max number of runs whose calls to unknown tools are remembered. The least recently used run is evicted first. */
const MAX_RUNS = 10_000;
const MAX_NAME = 130;

export function createUnknownTools({ store, identityOf, prove }: Needs): UnknownTools {
  const runs = new Map<string, RunMemory>();

  function memoryOf({ id, run }: Caller): RunMemory {
    const key = `${id}/${run}`;
    const memory = runs.get(key) ?? createRunMemory({ loopEnds: [] });
    runs.delete(key);
    runs.set(key, memory);
    if (runs.size > MAX_RUNS) runs.delete(runs.keys().next().value!);
    return memory;
  }

  async function judge(session: Caller, tool: string): Promise<Outcome> {
    const [{ agent }, { policy }] = await Promise.all([identityOf(session.id), store.readPolicy()]);
    const settings = settingsFor(policy?.loops, agent);
    const unknown = errorOutcome('TOOL_UNKNOWN', { tool, near: [] });
    const open = memoryOf(session).begin(tool, '');
    const { attempt, history, state } = open;
    if (open.inEndedRun) return blocked(RUN_ENDED);
    const verdict = detectLoop({
      history,
      run: state,
      attempt,
      settings: { ...settings, budgets: {} },
      tool: { id: tool },
    });
    const outcome = verdict.kind === 'block' ? blocked(verdict) : unknown;
    const endsRun = verdict.kind === 'block' && verdict.scope === 'run' ? { restMs: settings.restMs } : undefined;
    open.end({ ...endOfAttempt(outcome), cost: 0, ...(endsRun === undefined ? {} : { endsRun }) });
    if (endsRun !== undefined) {
      await prove(session);
      await store.endRun({ session: session.id, run: session.run, endedByLoop: endsRun });
    }
    return verdict.kind === 'warn' ? withAdvice(unknown, verdict.message) : outcome;
  }

  return {
    async refuse(session, name) {
      const tool = String(name).slice(0, MAX_NAME);
      try {
        return await judge(session, tool);
      } catch {
        // If the session or policy cannot be read, nothing is counted. The answer TOOL_UNKNOWN is still correct.
        return errorOutcome('TOOL_UNKNOWN', { tool, near: [] });
      }
    },
  };
}

function blocked(block: LoopBlock): Outcome {
  return errorOutcome(block.code, factsOfBlock(block) as { message: string });
}
