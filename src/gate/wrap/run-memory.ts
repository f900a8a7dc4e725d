import type { Attempt, RunHistory, RunState } from '../../domain/attempt.ts';
import { bodyDigest } from '../../wire/digest.ts';
import { AttemptRing, shortSignature, toolTag } from '../../wire/history.ts';

/** What the runs of one gate know of each other. */
export interface SessionMemory {
  /** Runs that loop detection has ended: the next ones are watched more strictly. */
  endedRuns: number;
}

/** What this process remembers of one run, for loop detection: as much as a store would keep. */
export interface RunMemory {
  begin(tool: string, canonical: string): OpenAttempt;
}

export interface OpenAttempt {
  readonly attempt: Attempt;
  /** Of the attempts before this one, as they are now. */
  readonly history: RunHistory;
  readonly state: RunState;
  /** The arguments were changed on the way. */
  rewrite(canonical: string): void;
  end(attempt: EndedAttempt): void;
}

export interface EndedAttempt extends Pick<Attempt, 'ending' | 'result'> {
  /** Millionths of the unit in which tools state their cost. */
  readonly cost: number;
  readonly endsRun: boolean;
}

/** More tools than this in one run are counted together. */
const MOST_TOOLS = 1000;

export function createRunMemory(session: SessionMemory, now: () => number = Date.now): RunMemory {
  const startedAt = now();
  const { endedRuns } = session;
  let isOver = false;
  const attempts = new AttemptRing();
  let sequence = 0;
  let cost = 0;
  const callsOf = new Map<string, number>();

  function count(tool: string): number {
    const name = callsOf.has(tool) || callsOf.size < MOST_TOOLS ? tool : '';
    const calls = (callsOf.get(name) ?? 0) + 1;
    callsOf.set(name, calls);
    return calls;
  }

  return {
    begin(tool, canonical) {
      sequence += 1;
      const state = { sequence, toolSequence: count(tool), startedAt, cost, endedRuns };
      const raw = signature(tool, canonical);
      let current: Attempt = {
        sequence,
        tool: toolTag(tool),
        raw,
        at: now(),
        ending: 'open',
      };
      attempts.put(current);
      const change = (changes: Partial<Attempt>): void => {
        current = { ...current, ...changes };
        attempts.put(current);
      };
      return {
        get attempt() {
          return current;
        },
        get history() {
          return attempts.before(current.sequence);
        },
        state,
        rewrite(changed) {
          change({ effective: signature(tool, changed) });
        },
        end({ cost: spent, endsRun, ...ending }) {
          cost += spent;
          if (endsRun && !isOver) session.endedRuns += 1;
          isOver ||= endsRun;
          change(ending);
        },
      };
    },
  };
}

function signature(tool: string, canonical: string): string {
  return shortSignature(bodyDigest(tool, canonical));
}
