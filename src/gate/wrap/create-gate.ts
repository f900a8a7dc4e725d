import type { HookedTool, HookFailed, HookHealth } from '../../domain/hook.ts';
import type { Identity } from '../../domain/session.ts';
import { EFFECTS, type Effect } from '../../domain/tool.ts';
import type { Log } from '../../ports/log.ts';
import { newRunId, randomId } from '../../wire/ids.ts';
import type { HookPlugin } from '../hooks/define-hooks.ts';
import { createGateHooks } from '../hooks/gate-hooks.ts';
import type { HookSet } from '../hooks/hook-set.ts';
import { registerPlugins } from '../hooks/load-hooks.ts';
import { findEntryPoints, type ParameterOrder } from './entry-points.ts';
import type { GateApprover, GateLoops, GateRules } from './gate-parts.ts';
import { guardEntry, type GuardedTool, type ParseInput } from './guard-entry.ts';
import type { ResultJudge } from './outcome-of.ts';
import type { PassageNeeds } from './passage.ts';
import { createRunMemory } from './run-memory.ts';
import { wrapEntries } from './wrap-tool.ts';

export interface GateOptions {
  /** Plugins, or what `loadHooks` gave. */
  readonly hooks?: readonly HookPlugin[] | HookSet;
  readonly rules?: GateRules;
  readonly loops?: GateLoops;
  /** Without it a call that somebody wants approved is denied. */
  readonly approver?: GateApprover;
  /** Whose calls they are, for hooks and rules. */
  readonly identity?: Partial<Identity>;
  readonly session?: string;
  /** With them hooks for tools that are not there are refused, as a worker does. */
  readonly tools?: readonly (Pick<HookedTool, 'id'> & Partial<HookedTool>)[];
  readonly log?: Log;
  /** `cause` is for its category only. */
  readonly onEvent?: (event: HookFailed, cause: unknown) => void;
  /** Puts the advice of loop detection into a result. Without it only results that are text get it. */
  readonly addAdvice?: (result: unknown, advice: string) => unknown;
}

export interface WrapOptions {
  /** What hooks and rules know it by: `module.tool`, or a name. Without it, the tool's own name. */
  readonly id?: string;
  /** Default: what the tool says itself, else `unsafe`. */
  readonly effect?: Effect;
  readonly privileged?: boolean;
  /** How its function takes its parameters; `input-first` without it. */
  readonly parameters?: ParameterOrder;
  /** Problems of arguments that a hook has changed, instead of a look at the tool's own schema. */
  readonly validate?: (args: Record<string, unknown>) => readonly string[];
}

export type WrapAllOptions = Omit<WrapOptions, 'id'> & {
  /** Ids are `module.name`. */
  readonly module?: string;
};

/** The checks of the plane around tools that run in this process. */
export interface Gate {
  /** A tool whose calls are checked first; those that may not run throw `GateBlocked`. */
  wrapTool<Tool extends object>(tool: Tool, options?: WrapOptions): Tool;
  /** All tools of an object, by their keys, or of a list, by their names. */
  wrapTools<Tools extends Readonly<Record<string, object>> | readonly object[]>(
    tools: Tools,
    options?: WrapAllOptions,
  ): Tools;
  /** The same checks with a memory of its own: loops and budgets are counted per run. */
  openRun(): Gate;
  health(): HookHealth[];
  /** Whether all observers were told, within this time. */
  idle(timeoutMs: number): Promise<boolean>;
}

/** What is bound to the rest of the package: how schemas and results are read. */
export interface GateBindings {
  readonly parserOf: (tool: object) => ParseInput;
  readonly judge: ResultJudge;
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };
const TOOL_ID = /^[\w-]{1,64}(\.[\w-]{1,64})?$/;

export function buildGate(options: GateOptions, bindings: GateBindings): Gate {
  const set = toHookSet(options);
  const { rules, loops, approver, log = SILENT, onEvent, addAdvice = addToText } = options;
  const hooks = createGateHooks(set, { log, ...(onEvent === undefined ? {} : { onEvent }) });
  const identity = { tenant: 'default', subject: 'local', agent: 'local', ...options.identity };
  const session = options.session ?? randomId();

  /** Stands for this gate, whatever the run. */
  const thisGate = {};

  function openRun(): Gate {
    const needs: PassageNeeds = {
      hooks,
      log,
      addAdvice,
      judge: bindings.judge,
      ...(rules === undefined ? {} : { rules }),
      ...(loops === undefined ? {} : { loops }),
      ...(approver === undefined ? {} : { approver }),
      frame: { session, run: newRunId(), identity, memory: createRunMemory() },
    };
    const thisRun = {};

    function wrapTool<Tool extends object>(tool: Tool, wrap: WrapOptions = {}): Tool {
      const reads = wrap.parameters ?? 'input-first';
      if (findEntryPoints(tool, reads).length === 0) return tool;
      const hooked = hookedTool(tool, wrap);
      const observed = loops !== undefined || set.matching('after_tool_call', hooked).length > 0;
      // Nothing would ever be done for it, whatever its calls are.
      const watched = observed || rules !== undefined || set.matching('before_tool_call', hooked).length > 0;
      const gated = { ...hooked, definition: tool };
      const guarded: GuardedTool = { tool: gated, parse: parserFor(tool, wrap, bindings), observed };
      return wrapEntries(tool, {
        gate: thisGate,
        run: thisRun,
        reads,
        guard: (entry) =>
          watched ? guardEntry(entry, guarded, needs) : (...given) => entry.enter.apply(entry.holder, given),
      });
    }

    return {
      wrapTool,
      wrapTools: (tools, wrap = {}) => wrapAll(tools, wrap, wrapTool),
      openRun,
      health: () => set.health(),
      idle: (timeoutMs) => hooks.idle(timeoutMs),
    };
  }

  return openRun();
}

function toHookSet({ hooks = [], tools }: GateOptions): HookSet {
  if ('matching' in hooks) return hooks;
  const known = tools?.map((tool) => ({ effect: 'unsafe' as const, privileged: false, ...tool }));
  return registerPlugins(hooks, known === undefined ? undefined : { tools: known });
}

function wrapAll<Tools extends Readonly<Record<string, object>> | readonly object[]>(
  tools: Tools,
  { module, ...wrap }: WrapAllOptions,
  wrapTool: Gate['wrapTool'],
): Tools {
  const prefix = module === undefined ? '' : `${module}.`;
  if (Array.isArray(tools)) {
    const named = (tool: object): string => `${prefix}${ownName(tool) ?? ''}`;
    return tools.map((tool: object) => wrapTool(tool, { ...wrap, id: named(tool) })) as unknown as Tools;
  }
  const entries = Object.entries(tools).map(([name, tool]) => [
    name,
    wrapTool(tool as object, { ...wrap, id: `${prefix}${name}` }),
  ]);
  return Object.fromEntries(entries) as Tools;
}

function hookedTool(tool: object, { id = ownName(tool), effect, privileged }: WrapOptions): HookedTool {
  if (id === undefined || !TOOL_ID.test(id)) {
    throw new TypeError(
      `A tool needs an id of letters, digits, _ and -, with at most one dot; got ${JSON.stringify(id)}.`,
    );
  }
  const said = tool as { effect?: unknown; privileged?: unknown };
  return {
    id,
    effect: effect ?? EFFECTS.find((known) => known === said.effect) ?? 'unsafe',
    privileged: privileged ?? said.privileged === true,
  };
}

function ownName(tool: object): string | undefined {
  const { name, function: inner } = tool as { name?: unknown; function?: { name?: unknown } };
  return [name, inner?.name].find((given) => typeof given === 'string' && given !== '') as string | undefined;
}

function parserFor(tool: object, { validate }: WrapOptions, { parserOf }: GateBindings): ParseInput {
  if (validate === undefined) return parserOf(tool);
  return (value) => {
    const problems = validate(value);
    return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
  };
}

function addToText(result: unknown, advice: string): unknown {
  return typeof result === 'string' ? `${result}\n\n${advice}` : result;
}
