import { z } from 'zod';
import { HOOK_EVENTS, MAX_HOOK_PRIORITY, MAX_HOOK_TIMEOUT_MS, type HookMatch } from '../../domain/policy/hook.ts';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import { nearNames } from '../../base/near-names.ts';
import type { HookDefinition } from './define-hooks.ts';
import { findMatchProblems, type HookCatalog } from './find-match-problems.ts';
import { registerHook, type RegisteredHook } from './registered-hook.ts';

/** What the operator sets for all hooks of a file. It overrides what the plugin sets. */
export interface PluginSettings {
  readonly timeoutMs?: number;
  readonly priority?: number;
}

export interface CheckedHooks {
  readonly hooks: readonly RegisteredHook[];
  readonly problems: readonly string[];
}

const name = z.string().regex(NAME_PATTERN, 'expected a name: letters, digits, _ and -, at most 64');
const timeoutMs = z.int().min(1).max(MAX_HOOK_TIMEOUT_MS);
const priority = z.int().min(-MAX_HOOK_PRIORITY).max(MAX_HOOK_PRIORITY);

const hook = z.strictObject(
  {
    id: name,
    on: z.enum(HOOK_EVENTS, `expected one of ${HOOK_EVENTS.join(', ')}`),
    run: z.custom<HookDefinition['run']>((value) => typeof value === 'function', 'expected a function'),
    // `findMatchProblems` checks `tools` and `effects` against the catalog.
    tools: z.unknown().optional(),
    effects: z.unknown().optional(),
    priority: priority.optional(),
    timeoutMs: timeoutMs.optional(),
  },
  'expected a hook: { id, on, run }',
);

const plugin = z.strictObject({
  id: name,
  hooks: z.array(z.unknown(), 'expected a list of hooks').min(1, 'has no hooks'),
});

/** Checks what a plugin exports. Returns all problems at once, each with the hook it is about. */
export function checkPlugin(
  exported: unknown,
  where: string,
  settings: PluginSettings,
  catalog: HookCatalog | undefined,
): CheckedHooks {
  if (typeof exported !== 'object' || exported === null) {
    const problem = 'it has no hooks as its default export; use: export default defineHooks({ … })';
    return { hooks: [], problems: [`${where}: ${problem}`] };
  }
  const parsed = plugin.safeParse({ ...exported });
  if (!parsed.success)
    return { hooks: [], problems: parsed.error.issues.flatMap((issue) => describeIssue(where, issue)) };
  const { id, hooks } = parsed.data;
  const checked = hooks.map((given, index) =>
    checkHook(given, `${where}: ${nameOf(given, index)}`, id, settings, catalog),
  );
  return { hooks: checked.flatMap((one) => one.hooks), problems: checked.flatMap((one) => one.problems) };
}

function checkHook(
  given: unknown,
  where: string,
  pluginId: string,
  settings: PluginSettings,
  catalog: HookCatalog | undefined,
): CheckedHooks {
  const parsed = hook.safeParse(given);
  if (!parsed.success)
    return { hooks: [], problems: parsed.error.issues.flatMap((issue) => describeIssue(where, issue)) };
  const { id, on, run, tools, effects, ...own } = parsed.data;
  const match = {
    ...(tools === undefined ? {} : { tools }),
    ...(effects === undefined ? {} : { effects }),
  } as HookMatch;
  const problems = findMatchProblems(match, catalog).map((problem) => `${where}: ${problem}`);
  if (problems.length > 0) return { hooks: [], problems };
  const timing = { timeoutMs: settings.timeoutMs ?? own.timeoutMs, priority: settings.priority ?? own.priority };
  const registered = registerHook({
    id: `${pluginId}.${id}`,
    on,
    match,
    // Called as a method of its definition, so that `this` is what the author expects.
    run: (event, context) => (run as (...given: unknown[]) => unknown).call(given, event, context),
    ...(timing.timeoutMs === undefined ? {} : { timeoutMs: timing.timeoutMs }),
    ...(timing.priority === undefined ? {} : { priority: timing.priority }),
  });
  return { hooks: [registered], problems: [] };
}

function nameOf(given: unknown, index: number): string {
  const id: unknown = typeof given === 'object' && given !== null ? (given as { id?: unknown }).id : undefined;
  return typeof id === 'string' && NAME_PATTERN.test(id) ? `hook ${id}` : `hook ${index + 1}`;
}

/** Options whose names suggest that calls pass when the hook fails. No such option exists: a failed hook always blocks the call. */
const LENIENT = /timeout|fail|error|fallback|default|lenient|optional/i;

const KEYS = ['id', 'on', 'run', 'tools', 'effects', 'priority', 'timeoutMs', 'hooks'];

function guess(key: string): string {
  const [near] = nearNames(key, KEYS, 1);
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}

function describeIssue(where: string, issue: z.core.$ZodIssue): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, 5).map((key) => {
      const shown = JSON.stringify(key.slice(0, 40));
      return LENIENT.test(key)
        ? `${where}: ${shown} is not possible: a hook that fails or takes too long always blocks`
        : `${where}: unknown key ${shown}${guess(key)}`;
    });
  }
  const path = issue.path.map(String).join('.');
  return [`${where}: ${path === '' ? '' : `${path}: `}${issue.message}`];
}
