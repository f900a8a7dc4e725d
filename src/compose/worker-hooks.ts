import type { LoadResult } from '../modules/catalog/loaded-module.ts';
import { nearNames } from '../base/near-names.ts';
import { createGateHooks } from '../gate/hooks/gate-hooks.ts';
import { loadHooks, type HookSource } from '../gate/hooks/load-hooks.ts';
import type { HookFailed } from '../domain/policy/hook.ts';
import { entriesOf } from '../domain/tool/module.ts';
import type { GateHooks } from '../domain/ports/gate-hooks.ts';
import type { Log } from '../domain/ports/log.ts';

export interface WorkerHooksNeeds {
  readonly log: Log;
  readonly onEvent?: (event: HookFailed, cause: unknown) => void;
}

/**
 * Loads the hooks of a worker, and checks them against all modules that were found. Workers of several pools may share one configuration, so a
 * hook for a tool of another pool is not a mistake.
 */
export async function loadWorkerHooks(
  sources: readonly HookSource[],
  { modules, broken }: LoadResult,
  needs: WorkerHooksNeeds,
): Promise<GateHooks> {
  const tools = modules.flatMap(({ declaration }) => entriesOf(declaration));
  const set = await loadHooks(sources, { tools, brokenModules: broken.map(({ id }) => id), near: nearNames });
  return createGateHooks(set, needs);
}
