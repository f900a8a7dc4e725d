import {
  addStall,
  COUNTED_LOOP_ENDS,
  type Attempt,
  type RunHistory,
  type RunState,
  type Stall,
} from '../../domain/call/attempt.ts';
import type { LoopSettings } from '../../domain/policy/loop-settings.ts';
import { rememberAttempt } from '../loop/detect-stall.ts';
import { bodyDigest } from '../../domain/tool/digest.ts';
import { AttemptRing, shortSignature, toolTag } from '../../domain/call/history.ts';

/** What the runs of one session share. */
export interface SessionMemory {
  /** When loop detection ended the latest runs. The next runs are watched more strictly for a while. */
  loopEnds: readonly number[];
  /**
   * Calls in the session's runs that brought nothing new. Cleared when loop detection ends a run, because the next runs are then watched
   * more strictly anyway.
   */
  stalls?: readonly Stall[];
}

/** Max sessions that one gate remembers. The session that was not used for the longest time is evicted first. */
const MAX_SESSIONS = 10_000;

export interface SessionMemories {
  of(session: string): SessionMemory;
}

export function createSessionMemories(): SessionMemories {
  const known = new Map<string, SessionMemory>();
  return {
    of(session) {
      const memory = known.get(session) ?? { loopEnds: [] };
      known.delete(session);
      known.set(session, memory);
      if (known.size > MAX_SESSIONS) known.delete(known.keys().next().value!);
      return memory;
    },
  };
}

/** What this process remembers of one run for loop detection. It keeps the same facts as a store. */
export interface RunMemory {
  begin(tool: string, canonical: string): OpenAttempt;
}

export interface OpenAttempt {
  readonly attempt: Attempt;
  /** The attempts before this one, in their current state. */
  readonly history: RunHistory;
  readonly state: RunState;
  /** True if loop detection has ended the run and its rest period is not over. The call does not run, and nothing is recorded about it. */
  readonly inEndedRun: boolean;
  /** Adds the signatures of the arguments that run, as far as they are known. */
  describe(signatures: Pick<Attempt, 'effective' | 'target'>): void;
  end(attempt: EndedAttempt): void;
}

export interface EndedAttempt extends Pick<Attempt, 'ending' | 'result'> {
  /** Cost in millionths of the unit in which tools state their cost. */
  readonly cost: number;
  /** The loop settings of the run. Absent if loops are not checked. */
  readonly loops?: LoopSettings | undefined;
  /** Loop detection ends the run, which starts again after `restMs`. */
  readonly endsRun?: { readonly restMs: number };
}

/** If a run uses more tools than this, the others share one counter. */
const MAX_TOOLS = 1000;

export function createRunMemory(session: SessionMemory, now: () => number = Date.now): RunMemory {
  let part = beginPart(session, now());
  /**
   * When the run opens again; undefined unless loop detection has ended the run. Calls that are refused in the meantime do not change it.
   */
  let opensAt: number | undefined;

  function endRun(restMs: number): void {
    if (opensAt !== undefined) return;
    opensAt = now() + restMs;
    session.loopEnds = [...session.loopEnds, now()].slice(-COUNTED_LOOP_ENDS);
    session.stalls = [];
  }

  return {
    begin(tool, canonical) {
      const at = now();
      if (opensAt !== undefined && at >= opensAt) {
        part = beginPart(session, at);
        opensAt = undefined;
      }
      const { attempts, loopEnds, startedAt } = part;
      const own = part;
      const inEndedRun = opensAt !== undefined;
      if (!inEndedRun) own.sequence += 1;
      const { sequence, cost } = own;
      const toolSequence = inEndedRun ? 0 : countTool(own, tool);
      const { stalls = [] } = session;
      const state = { sequence, toolSequence, startedAt, cost, loopEnds, ...(stalls.length === 0 ? {} : { stalls }) };
      let current: Attempt = { sequence, tool: toolTag(tool), raw: signature(tool, canonical), at, ending: 'open' };
      const change = (changes: Partial<Attempt>): void => {
        current = { ...current, ...changes };
        if (!inEndedRun) attempts.put(current);
      };
      change({});
      return {
        get attempt() {
          return current;
        },
        get history() {
          return attempts.before(current.sequence);
        },
        state,
        inEndedRun,
        describe: change,
        end({ cost: spent, endsRun, loops, ...ending }) {
          own.cost += spent;
          const ended = { ...current, ...ending };
          if (loops !== undefined && !inEndedRun) {
            const { tally, stall } = rememberAttempt(attempts.before(current.sequence), ended, loops);
            if (stall !== undefined && own === part) session.stalls = addStall(session.stalls ?? [], stall, at);
            change(tally === undefined ? ending : { ...ending, tally });
          } else {
            change(ending);
          }
          if (endsRun !== undefined && own === part) endRun(endsRun.restMs);
        },
      };
    },
  };
}

/** Counters since the start of a run, or since its restart after loop detection ended it. */
interface RunPart {
  readonly startedAt: number;
  readonly loopEnds: readonly number[];
  readonly attempts: AttemptRing;
  readonly callsOf: Map<string, number>;
  sequence: number;
  cost: number;
}

function beginPart({ loopEnds }: SessionMemory, startedAt: number): RunPart {
  return { startedAt, loopEnds, attempts: new AttemptRing(), callsOf: new Map(), sequence: 0, cost: 0 };
}

function countTool({ callsOf }: RunPart, tool: string): number {
  const name = callsOf.has(tool) || callsOf.size < MAX_TOOLS ? tool : '';
  const calls = (callsOf.get(name) ?? 0) + 1;
  callsOf.set(name, calls);
  return calls;
}

function signature(tool: string, canonical: string): string {
  return shortSignature(bodyDigest(tool, canonical));
}
