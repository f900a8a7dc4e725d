import { countNoun } from '../base/count-noun.ts';
import type { HookEventName, HookHealth } from '../domain/policy/hook.ts';
import type { WorkerEntry } from '../domain/ports/fleet-registry.ts';
import type { Check } from './check.ts';

type HookedWorker = Pick<WorkerEntry, 'workerId' | 'pool' | 'hooks'>;

/** Reports the health of all hooks of the fleet. Empty when there are none. */
export function inspectHooks(workers: readonly HookedWorker[]): Check[] {
  const all = workers.flatMap(({ workerId, hooks = [] }) => hooks.map((health) => ({ workerId, ...health })));
  if (all.length === 0) return [];
  const problems = all.flatMap((health): Check[] => {
    const problem = describeProblem(health);
    return problem === undefined
      ? []
      : [{ name: 'hook', ...problem, found: `worker ${health.workerId}: ${problem.found}` }];
  });
  const ids = new Set(all.map(({ hook }) => hook));
  const calls = all.reduce((count, health) => count + health.calls, 0);
  const summary: Check = {
    name: 'hooks',
    state: 'ok',
    found: `${countNoun(ids.size, 'hook')}, asked or told ${countNoun(calls, 'time')}`,
  };
  return [summary, ...findDifferentPools(workers), ...problems];
}

const EFFECT_OF_FAILURE: Partial<Record<HookEventName, string>> = {
  before_tool_call: '; those calls were blocked',
  tool_result: '; those results were withheld',
};

/** Describes the problem of a hook in one sentence for an operator; undefined when the hook is healthy. */
export function describeProblem({
  hook,
  on,
  calls,
  failed,
  timedOut,
  dropped,
}: HookHealth): { readonly state: 'warn' | 'bad'; readonly found: string; readonly fix: string } | undefined {
  if (failed > 0) {
    const slow = timedOut > 0 ? `, ${timedOut} of them by taking too long` : '';
    const effect = EFFECT_OF_FAILURE[on] ?? '';
    return {
      // A hook that always fails blocks its tools: every call is blocked, or every result is withheld.
      state: failed === calls && effect !== '' ? 'bad' : 'warn',
      found: `hook ${hook} failed ${failed} of ${calls} times${slow}${effect}`,
      fix: 'Look for "hook failed" in the worker\'s log; it has the cause.',
    };
  }
  if (dropped === 0) return undefined;
  const found = `hook ${hook} is too slow: it was not told of ${countNoun(dropped, 'call')}`;
  return { state: 'warn', found, fix: 'Let the hook hand its work over instead of doing it.' };
}

/** Reports pools whose workers have different hooks. In such a pool it would depend on the worker whether a call is checked. */
function findDifferentPools(workers: readonly HookedWorker[]): Check[] {
  const setsOf = new Map<string, Set<string>>();
  for (const { pool, hooks = [] } of workers) {
    const sets = setsOf.get(pool) ?? new Set();
    setsOf.set(
      pool,
      sets.add(
        hooks
          .map(({ hook }) => hook)
          .sort()
          .join(' '),
      ),
    );
  }
  return [...setsOf]
    .filter(([, sets]) => sets.size > 1)
    .map(([pool]) => ({
      name: 'hooks',
      state: 'bad',
      found: `workers of pool ${pool} have different hooks: what is checked depends on who takes a call`,
      fix: 'Give them the same worker.hooks, and start them again.',
    }));
}
