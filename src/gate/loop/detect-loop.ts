import type { RunHistory, RunState } from '../../domain/call/attempt.ts';
import { MAX_COUNTED, type LoopSettings } from '../../domain/policy/loop-settings.ts';
import { checkBudgets } from './check-budgets.ts';
import { detectBreaker } from './detect-breaker.ts';
import { detectCycle } from './detect-cycle.ts';
import { detectAnyFailure, detectSameFailure, detectUnknownTool } from './detect-failures.ts';
import { detectChanging, detectRepeat, detectSameTarget, keepsCadence } from './detect-repeat.ts';
import { detectStall } from './detect-stall.ts';
import { climb, type AskedTool, type Detect, type Finding } from './finding.ts';
import { blockText, warningText } from './loop-message.ts';
import { LoopWindow, type AskedAttempt } from './loop-window.ts';
import type { BlockScope, LoopVerdict } from '../../domain/policy/loop-verdict.ts';
import { stricter, type EffectiveLoopSettings } from './stricter.ts';

export interface LoopQuestion {
  /** Attempts of this run, without the current one. A store sends them only if the call looks repeated; otherwise this is empty. */
  readonly history: RunHistory;
  readonly run: RunState;
  readonly attempt: AskedAttempt;
  readonly settings: LoopSettings;
  readonly tool: AskedTool;
}

const detectInFlight: Detect = ({ openSame }, { inFlight }) =>
  inFlight === false ? undefined : climb(inFlight, 'in-flight', openSame, openSame);

/**
 * Detectors in the order in which they run. Only `ALWAYS` runs for a polling tool that is called no faster than its declared cadence. A
 * block by any detector wins; of several warnings the first one is given.
 */
const ALWAYS: readonly Detect[] = [detectInFlight];
const UNLESS_SLOW: readonly Detect[] = [
  detectUnknownTool,
  detectInFlight,
  detectRepeat,
  detectCycle,
  detectSameFailure,
  detectAnyFailure,
  detectStall,
  detectBreaker,
  detectChanging,
  detectSameTarget,
];

/** Working memory of one synchronous detection. Each call of `detectLoop` fills it anew, so nothing is carried over. */
const window = new LoopWindow();

/**
 * Whether this call is part of a loop. A pure function of what the store remembers: every attempt is in the history, blocked ones too. The
 * four steps (warn, block the call, block the pattern, end the run) follow from the history, and no state is kept here. Call it once before
 * hooks, and again if hooks changed the arguments.
 */
export function detectLoop({ history, run, attempt, settings, tool }: LoopQuestion): LoopVerdict {
  const budget = checkBudgets(run, attempt.at, settings.budgets, tool);
  if (budget.kind === 'block' || !settings.enabled || history.length === 0) return budget;
  const held = stricter(settings, countLoopEnds(run, attempt.at, settings.strictMs));
  window.read(history, attempt, held.decayMs, run.stalls);
  const finding = find(held, tool);
  if (finding === undefined) return budget;
  const { detector, count, level } = finding;
  if (level === 'warn') return { kind: 'warn', detector, count, message: warningText(finding, tool.id) };
  const scope = scopeOf(finding, held);
  return {
    kind: 'block',
    code: scope === 'run' ? 'RUN_ENDED_BY_LOOP' : 'LOOP_BLOCKED',
    scope,
    detector,
    count,
    ...(finding.period === undefined ? {} : { period: finding.period }),
    ...(scope === 'run' ? { restMs: held.restMs } : {}),
    message: blockText(finding, scope, tool.id),
  };
}

/** Counts the runs that loop detection ended within the last `strictMs`. Older ones say nothing about the current conversation. */
function countLoopEnds({ loopEnds }: RunState, now: number, strictMs: number): number {
  return loopEnds.reduce((count, endedAt) => (now - endedAt < strictMs ? count + 1 : count), 0);
}

function find(settings: EffectiveLoopSettings, tool: AskedTool): Finding | undefined {
  if (isOver(settings)) return { detector: 'ended', level: 'block', count: window.blocked + window.blockedInFlight };
  const isSlowPoll = tool.poll !== undefined && keepsCadence(window, tool.poll.everyMs);
  let warning: Finding | undefined;
  for (const detect of isSlowPoll ? ALWAYS : UNLESS_SLOW) {
    const found = detect(window, settings, tool);
    if (found?.level === 'block') return found;
    warning ??= found;
  }
  return warning;
}

/** Escalates if the model continues after a warning: first this call is blocked, then the pattern it belongs to, then the whole run. */
function scopeOf({ detector, period }: Finding, settings: EffectiveLoopSettings): BlockScope {
  if (detector === 'changing') return 'call';
  if (isOver(settings, detector === 'in-flight' ? 'small' : 'full')) return 'run';
  if (detector === 'in-flight') return 'call';
  return window.blockedBy[detector] > 0 || (detector === 'cycle' && period === undefined) ? 'pattern' : 'call';
}

/**
 * Whether the run has ended, or would end with one more blocked call. A model may send the same call many times in one message, so blocked
 * duplicates of open calls are counted separately, and `MAX_COUNTED` of them end the run. The store's history is longer than that, so the
 * duplicates cannot push the open calls out of it first.
 */
function isOver({ endRun }: EffectiveLoopSettings, next?: 'full' | 'small'): boolean {
  const [full, small] = [next === 'full' ? 1 : 0, next === 'small' ? 1 : 0];
  return window.blocked + full >= endRun || window.blockedInFlight + small >= MAX_COUNTED;
}
