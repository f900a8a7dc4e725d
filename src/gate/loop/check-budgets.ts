import { countNoun } from '../../base/count-noun.ts';
import type { RunState } from '../../domain/call/attempt.ts';
import { splitToolId } from '../../domain/identity/ids.ts';
import type { LoopBudgets } from '../../domain/policy/loop-settings.ts';
import type { AskedTool } from './finding.ts';
import { PASS, type BlockScope, type Detector, type LoopVerdict } from '../../domain/policy/loop-verdict.ts';

export const COST_UNIT = 1_000_000;
/** Smaller budgets get no warning: they would be used up before the model could react. */
const MIN_WARNED = 10;
const WARNED_PART = 0.9;

/** Whether the budgets of the run allow this call. The counts arrive with every call, so no history is needed. */
export function checkBudgets(run: RunState, at: number, budgets: LoopBudgets, tool: AskedTool): LoopVerdict {
  const { callsPerRun, callsPerTool, wallTimeMs, cost } = budgets;
  const perTool = callsPerTool === undefined ? undefined : limitOf(callsPerTool, tool.id);
  if (callsPerRun !== undefined && run.sequence > callsPerRun)
    return spent('calls-per-run', 'run', run.sequence - 1, `its ${callsPerRun} calls are used up`);
  if (wallTimeMs !== undefined && at - run.startedAt > wallTimeMs)
    return spent('wall-time', 'run', run.sequence - 1, `its ${shownTime(wallTimeMs)} are over`);
  if (cost !== undefined && isTooDear(run.cost, cost, tool.cost ?? 0))
    return spent('cost', 'run', run.sequence - 1, `${run.cost / COST_UNIT} of its ${cost} for costs are spent`);
  if (perTool !== undefined && run.toolSequence > perTool)
    return spent('calls-per-tool', 'pattern', run.toolSequence - 1, `its ${perTool} calls of ${tool.id} are used up`);
  if (callsPerRun !== undefined && run.sequence === warnedAt(callsPerRun))
    return nearly('calls-per-run', run.sequence, `${run.sequence} of the ${callsPerRun} calls of this run`);
  if (perTool !== undefined && run.toolSequence === warnedAt(perTool))
    return nearly('calls-per-tool', run.toolSequence, `${run.toolSequence} of ${perTool} calls of ${tool.id}`);
  return PASS;
}

/** Whether this call would exceed the cost budget. Such a call is not started. */
function isTooDear(costSoFar: number, budget: number, own: number): boolean {
  const limit = budget * COST_UNIT;
  return costSoFar >= limit || costSoFar + Math.round(own * COST_UNIT) > limit;
}

function limitOf(limits: NonNullable<LoopBudgets['callsPerTool']>, id: string): number | undefined {
  if (typeof limits === 'number') return limits;
  if (Object.hasOwn(limits, id)) return limits[id];
  const module = splitToolId(id)?.module;
  if (module !== undefined && Object.hasOwn(limits, `${module}.*`)) return limits[`${module}.*`];
  return Object.hasOwn(limits, '*') ? limits['*'] : undefined;
}

function warnedAt(limit: number): number {
  return limit < MIN_WARNED ? -1 : Math.ceil(limit * WARNED_PART);
}

function spent(detector: Detector, scope: BlockScope, count: number, what: string): LoopVerdict {
  const after =
    scope === 'run' ? 'No further call of this run will run' : 'Further calls of this tool will not run either';
  const message = `This call did not run: the budget of this run does not allow it, ${what}. ${after}. Finish with what you have, and say what is missing.`;
  return { kind: 'block', code: 'BUDGET_SPENT', scope, detector, count, message };
}

function nearly(detector: Detector, count: number, what: string): LoopVerdict {
  const message = `This was call ${what}. When they are used up, calls will not run any more: do the most important things first.`;
  return { kind: 'warn', detector, count, message };
}

function shownTime(ms: number): string {
  if (ms % 60_000 === 0) return countNoun(ms / 60_000, 'minute');
  return ms % 1000 === 0 ? countNoun(ms / 1000, 'second') : countNoun(ms, 'millisecond');
}
