import { pathToFileURL } from 'node:url';
import { offerOwnPackage } from '../../base/own-package.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { checkPlugin, type CheckedHooks, type PluginSettings } from './check-plugin.ts';
import { commandHookId, isUsableId, registerCommand, type CommandHookSource } from './command-hook.ts';
import type { HookPlugin } from './define-hooks.ts';
import { findMatchProblems, type HookCatalog } from './find-match-problems.ts';
import { createHookSet, type HookSet } from './hook-set.ts';
import type { RegisteredHook } from './registered-hook.ts';
import { showCause } from './show-cause.ts';

/** A plugin file. It is loaded once, when the process starts. */
export interface FileHookSource extends PluginSettings {
  readonly file: string;
}

export type HookSource = FileHookSource | CommandHookSource;

const IMPORT_TIMEOUT_MS = 20_000;
const MAX_PROBLEMS = 16;

/**
 * Loads all hooks or none: throws HOOKS_INVALID with the problems, at most 16. A worker that started without one of its hooks would allow
 * calls that the operator believes are blocked. Without a catalog, patterns are not compared with existing tools.
 */
export async function loadHooks(sources: readonly HookSource[], catalog?: HookCatalog): Promise<HookSet> {
  const checked: CheckedHooks[] = [];
  // Files are loaded one after the other, in order: a file may change global state that the next file uses.
  for (const source of sources) {
    checked.push('file' in source ? await loadFile(source, catalog) : checkCommand(source, catalog));
  }
  return join(checked);
}

/** Registers plugins that are already loaded. */
export function registerPlugins(plugins: readonly HookPlugin[], catalog?: HookCatalog): HookSet {
  return join(plugins.map((plugin, index) => checkPlugin(plugin, `plugin ${index + 1}`, {}, catalog)));
}

function join(checked: readonly CheckedHooks[]): HookSet {
  const hooks = checked.flatMap((one) => one.hooks);
  const problems = [...checked.flatMap((one) => one.problems), ...findDuplicates(hooks)];
  if (problems.length > 0) throw planeError('HOOKS_INVALID', { problems: problems.slice(0, MAX_PROBLEMS) });
  return createHookSet(hooks);
}

/** Reports ids that several hooks share. Approvals and the audit identify a hook only by its id. */
function findDuplicates(hooks: readonly RegisteredHook[]): string[] {
  const ids = hooks.map(({ id }) => id);
  const twice = new Set(ids.filter((id, index) => ids.indexOf(id) !== index));
  return [...twice].map((id) => `there are several hooks ${id}; give each an id of its own`);
}

async function loadFile(source: FileHookSource, catalog: HookCatalog | undefined): Promise<CheckedHooks> {
  const { file, ...settings } = source;
  try {
    offerOwnPackage(file);
    const { default: exported } = await withinTime(import(pathToFileURL(file).href) as Promise<{ default?: unknown }>);
    return checkPlugin(exported, file, settings, catalog);
  } catch (error) {
    return { hooks: [], problems: [`${file}: it cannot be loaded: ${showCause(error)}`] };
  }
}

function withinTime<Value>(loading: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`its import did not end within ${IMPORT_TIMEOUT_MS} ms`);
    timer = setTimeout(() => reject(error), IMPORT_TIMEOUT_MS);
  });
  return Promise.race([loading, late]).finally(() => clearTimeout(timer));
}

function checkCommand(source: CommandHookSource, catalog: HookCatalog | undefined): CheckedHooks {
  const id = commandHookId(source);
  const where = `command ${id}`;
  const problems = findMatchProblems(source, catalog);
  if (!isUsableId(id)) problems.push('give it an id: letters, digits, _ and -, at most 64');
  const unset = (source.env ?? []).filter((name) => process.env[name] === undefined);
  problems.push(...unset.map((name) => `env: the environment has no ${name}`));
  if (problems.length > 0) return { hooks: [], problems: problems.map((problem) => `${where}: ${problem}`) };
  return { hooks: [registerCommand(source)], problems: [] };
}
