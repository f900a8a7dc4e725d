import {
  HISTORY_LENGTH,
  SIGNATURE_LENGTH,
  type Attempt,
  type RunHistory,
  type RunState,
} from '../../domain/attempt.ts';
import { bodyDigest, sha256 } from '../../wire/digest.ts';

/** What this process remembers of one run, for loop detection: as much as a store would keep. */
export interface RunMemory {
  begin(tool: string, canonical: string): OpenAttempt;
}

export interface OpenAttempt {
  readonly attempt: Attempt;
  /** As it was before this attempt. */
  readonly history: RunHistory;
  readonly state: RunState;
  /** The arguments were changed on the way. */
  rewrite(canonical: string): void;
  end(ending: Pick<Attempt, 'ending' | 'result'>, cost: number): void;
}

/** More tools than this in one run are counted together. */
const MOST_TOOLS = 1000;

export function createRunMemory(now: () => number = Date.now): RunMemory {
  const startedAt = now();
  let history: Attempt[] = [];
  let sequence = 0;
  let cost = 0;
  const callsOf = new Map<string, number>();

  function count(tool: string): number {
    const name = callsOf.has(tool) || callsOf.size < MOST_TOOLS ? tool : '';
    const calls = (callsOf.get(name) ?? 0) + 1;
    callsOf.set(name, calls);
    return calls;
  }

  /** A new list each time: whoever holds an older one sees no changes. */
  function replace(before: Attempt, after: Attempt): Attempt {
    history = history.map((one) => (one === before ? after : one));
    return after;
  }

  return {
    begin(tool, canonical) {
      sequence += 1;
      const before = history;
      const state = { sequence, toolSequence: count(tool), startedAt, cost, endedRuns: 0 };
      const raw = signature(tool, canonical);
      let current: Attempt = {
        sequence,
        tool: sha256(tool).slice(0, SIGNATURE_LENGTH),
        raw,
        at: now(),
        ending: 'open',
      };
      history = [...before.slice(1 - HISTORY_LENGTH), current];
      return {
        get attempt() {
          return current;
        },
        history: before,
        state,
        rewrite(changed) {
          current = replace(current, { ...current, effective: signature(tool, changed) });
        },
        end(ending, spent) {
          cost += spent;
          current = replace(current, { ...current, ...ending });
        },
      };
    },
  };
}

function signature(tool: string, canonical: string): string {
  return bodyDigest(tool, canonical).slice(0, SIGNATURE_LENGTH);
}
