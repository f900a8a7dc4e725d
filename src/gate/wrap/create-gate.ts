import type { HookedTool, HookFailed, HookHealth } from '../../domain/hook.ts';
import { settingsFor } from '../../domain/loop-settings.ts';
import type { Policy } from '../../domain/policy.ts';
import type { Identity } from '../../domain/session.ts';
import type { DiagnosticListener, DiagnosticSubscription, Events } from '../../ports/events.ts';
import type { Log } from '../../ports/log.ts';
import { newRunId, randomId } from '../../wire/ids.ts';
import type { HookPlugin } from '../hooks/define-hooks.ts';
import { createGateHooks } from '../hooks/gate-hooks.ts';
import type { HookSet } from '../hooks/hook-set.ts';
import { registerPlugins } from '../hooks/load-hooks.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { unmatchedVerdict } from '../rules/decide-by-rules.ts';
import { addToResult, adviseInModelOutput, converterFor, isForModelOutput, type Advise } from './add-advice.ts';
import { describeTool, ownName, type ToolFacts } from './describe-tool.ts';
import { findEntryPoints, type ParameterOrder } from './entry-points.ts';
import type { GateApprover, GatedTool, GatePolicy } from './gate-parts.ts';
import { guardEntry, type GuardedTool, type ParseInput } from './guard-entry.ts';
import type { ResultJudge } from './outcome-of.ts';
import type { PassageNeeds } from './passage.ts';
import { createRunMemory, type SessionMemory } from './run-memory.ts';
import { replaceMember, wrapEntries } from './wrap-tool.ts';

export interface GateOptions {
  /** Rules, loops and budgets, as in a policy file and checked like one. Loop detection is on without it, too. */
  readonly policy?: GatePolicy;
  /** Plugins, or what `loadHooks` gave. */
  readonly hooks?: readonly HookPlugin[] | HookSet;
  /** Without it a call that somebody wants approved is denied. */
  readonly approver?: GateApprover;
  /** Whose calls they are, for hooks and rules. */
  readonly identity?: Partial<Identity>;
  readonly session?: string;
  /** With them hooks and rules for tools that are not there are refused, as a worker and `policy check` do. */
  readonly tools?: readonly (Pick<HookedTool, 'id'> & Partial<HookedTool>)[];
  readonly log?: Log;
  /** Hears what a worker would tell: loops, approvals, blocked and failed calls, hooks that fail. Never a value of a call. */
  readonly onEvent?: DiagnosticListener | DiagnosticSubscription;
  /** Puts the advice of loop detection into a result, instead of what is done without it. */
  readonly addAdvice?: (result: unknown, advice: string) => unknown;
}

export interface WrapOptions extends ToolFacts {
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

/** What is bound to the rest of the package: how policies, schemas and results are read. */
export interface GateBindings {
  /** The one that was given, checked. */
  readonly policy: Policy;
  readonly parserOf: (tool: object) => ParseInput;
  /** Fills in the defaults of the tool's schema, as far as JSON Schema can say it. */
  readonly defaultsOf: (tool: object) => GuardedTool['fill'];
  readonly judge: ResultJudge;
  /** Where somebody listens. */
  readonly events?: Events;
  /** `cause` is for its category only. */
  readonly onHookFailed?: (event: HookFailed, cause: unknown) => void;
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export function buildGate(options: GateOptions, bindings: GateBindings): Gate {
  const set = toHookSet(options);
  const { approver, log = SILENT } = options;
  const { policy, judge, events, onHookFailed } = bindings;
  const hooks = createGateHooks(set, { log, ...(onHookFailed === undefined ? {} : { onEvent: onHookFailed }) });
  const identity = { tenant: 'default', subject: 'local', agent: 'local', ...options.identity };
  const session = options.session ?? randomId();
  const settings = settingsFor(policy.loops, identity.agent);
  const loops = settings.enabled || Object.keys(settings.budgets).length > 0 ? settings : undefined;
  const ended: SessionMemory = { loopEnds: [] };

  /** Stands for this gate, whatever the run. */
  const thisGate = {};

  function isChecked(tool: GatedTool): boolean {
    const byHooks = (['before_tool_call', 'after_tool_call'] as const).some((on) => set.matching(on, tool).length > 0);
    return byHooks || unmatchedVerdict(policy) !== 'allow' || compileRules(policy).about(tool).length > 0;
  }

  function openRun(): Gate {
    const needs: PassageNeeds = {
      hooks,
      policy,
      loops,
      log,
      judge,
      ...(approver === undefined ? {} : { approver }),
      ...(events === undefined ? {} : { events }),
      frame: { session, run: newRunId(), identity, memory: createRunMemory(ended) },
    };
    const thisRun = {};

    function wrapTool<Tool extends object>(tool: Tool, wrap: WrapOptions = {}): Tool {
      const reads = wrap.parameters ?? 'input-first';
      if (findEntryPoints(tool, reads).length === 0) return tool;
      const gated = describeTool(tool, wrap);
      refuseUnnamed(gated, policy);
      const checked = isChecked(gated);
      const advise = loops === undefined ? NO_ADVICE : adviceFor(tool, options);
      const guarded: GuardedTool = {
        tool: gated,
        parse: parserFor(tool, wrap, bindings),
        fill: bindings.defaultsOf(tool),
        checked,
        advise,
      };
      const wrapped = wrapEntries(tool, {
        gate: thisGate,
        run: thisRun,
        reads,
        guard: (entry) =>
          // Otherwise nothing would ever be done for it, whatever its calls are.
          checked || loops !== undefined
            ? guardEntry(entry, guarded, needs)
            : (...given) => entry.enter.apply(entry.holder, given),
      });
      return advise === adviseInModelOutput ? withConverter(wrapped, tool) : wrapped;
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

/** Rules name `module.tool`. A tool without a module would slip past the one that was written for it. */
function refuseUnnamed({ id }: GatedTool, { rules = [] }: Policy): void {
  if (id.includes('.') || !rules.some(({ tools }) => tools?.some((pattern) => pattern !== '*') === true)) return;
  throw new TypeError(`Rules name tools as module.tool, and ${id} has no module: say { module } or { id }.`);
}

const NO_ADVICE: Advise = (result) => result;

function adviceFor(tool: object, { addAdvice }: GateOptions): Advise {
  if (addAdvice === undefined && isForModelOutput(tool)) return adviseInModelOutput;
  const add = addAdvice ?? addToResult;
  return (result, advice) => (advice === undefined ? result : add(result, advice));
}

function withConverter<Tool extends object>(wrapped: Tool, tool: object): Tool {
  const convert = converterFor(tool);
  const isThere = (wrapped as { toModelOutput?: unknown }).toModelOutput === convert;
  return isThere ? wrapped : replaceMember(wrapped, ['toModelOutput'], convert);
}

function parserFor(tool: object, { validate }: WrapOptions, { parserOf }: GateBindings): ParseInput {
  if (validate === undefined) return parserOf(tool);
  return (value) => {
    const problems = validate(value);
    return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
  };
}
