import type { HookFailed, HookHealth } from '../../domain/policy/hook.ts';
import { settingsFor } from '../../domain/policy/loop-settings.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import { parseTrace } from '../../domain/call/trace-context.ts';
import type { Events } from '../../domain/ports/events.ts';
import type { Log } from '../../domain/ports/log.ts';
import { newRunId, randomId } from '../../domain/identity/new-id.ts';
import { createGateHooks } from '../hooks/gate-hooks.ts';
import type { HookSet } from '../hooks/hook-set.ts';
import { registerPlugins } from '../hooks/load-hooks.ts';
import { compileRules } from '../rules/compile-rules.ts';
import { unmatchedVerdict } from '../rules/decide-by-rules.ts';
import { addToResult, adviseInModelOutput, converterFor, isForModelOutput, type Advise } from './add-advice.ts';
import { describeTool } from './describe-tool.ts';
import { findEntryPoints } from './entry-points.ts';
import {
  checkRunOptions,
  checkWrapAllOptions,
  checkWrapOptions,
  type GateOptions,
  type RunOptions,
  type WrapAllOptions,
  type WrapOptions,
} from './gate-options.ts';
import type { GatedTool } from './gate-parts.ts';
import { guardEntry, type GuardedTool, type ParseInput } from './guard-entry.ts';
import type { ResultJudge } from './outcome-of.ts';
import type { PassageNeeds, RunFrame } from './passage.ts';
import type { CheckOutput } from './review-result.ts';
import { createRunMemory, createSessionMemories } from './run-memory.ts';
import { replaceMember, wrapEntries } from './wrap-tool.ts';

/** The plane's checks (loop detection, rules, hooks, approvals) for tools that run in this process. */
export interface Gate {
  /** Returns a tool whose calls are checked first. A call that may not run throws `GateBlocked`. */
  wrapTool<Tool extends object>(tool: Tool, options?: WrapOptions): Tool;
  /** Wraps all tools of an object, named by their keys, or of a list, named by their own names. */
  wrapTools<Tools extends Readonly<Record<string, object>> | readonly object[]>(
    tools: Tools,
    options?: WrapAllOptions,
  ): Tools;
  /** Returns a gate with the same checks and its own memory: loops and budgets are counted per run. Open one run per conversation. */
  openRun(options?: RunOptions): Gate;
  health(): HookHealth[];
  /** Waits until all observers have received their events; false if the timeout passes first. */
  idle(timeoutMs: number): Promise<boolean>;
}

/** Functions from other parts of the package that the gate uses to read policies, schemas and results. */
export interface GateBindings {
  /** The policy from the options, checked. */
  readonly policy: Policy;
  readonly parserOf: (tool: object) => ParseInput;
  /** Fills in the defaults of the tool's schema, as far as JSON Schema can express them. */
  readonly defaultsOf: (tool: object) => GuardedTool['fill'];
  /** Checks what a result hook wrote against the tool's output schema. */
  readonly outputOf: (tool: object) => CheckOutput;
  readonly judge: ResultJudge;
  /** Absent if there is no listener. */
  readonly events?: Events;
  /** `cause` is passed only to derive its category. */
  readonly onHookFailed?: (event: HookFailed, cause: unknown) => void;
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export function buildGate(options: GateOptions, bindings: GateBindings): Gate {
  const set = toHookSet(options);
  const { approver } = options;
  const log = guardLog(options.log ?? SILENT);
  const { policy, judge, events, onHookFailed } = bindings;
  const hooks = createGateHooks(set, { log, ...(onHookFailed === undefined ? {} : { onEvent: onHookFailed }) });
  const ownSession = options.session ?? randomId();
  const memories = createSessionMemories();

  /** Identifies this gate in all of its runs. Only compared by reference. */
  const thisGate = {};

  function isChecked(tool: GatedTool): boolean {
    const byHooks = (['before_tool_call', 'tool_result', 'after_tool_call'] as const).some(
      (on) => set.matching(on, tool).length > 0,
    );
    return byHooks || unmatchedVerdict(policy) !== 'allow' || compileRules(policy).about(tool).length > 0;
  }

  function frameOf(run: RunOptions): RunFrame {
    const session = run.session ?? ownSession;
    const { trace = options.trace } = run;
    return {
      session,
      run: run.id ?? newRunId(),
      identity: {
        tenant: 'default',
        subject: 'local',
        agent: 'local',
        ...options.identity,
        ...run.identity,
        ...(run.unattended === true ? { unattended: true } : {}),
      },
      memory: createRunMemory(memories.of(session)),
      trace: () => parseSafely(trace),
    };
  }

  function openRun(run: RunOptions = {}): Gate {
    checkRunOptions(run);
    const frame = frameOf(run);
    const settings = settingsFor(policy.loops, frame.identity.agent);
    const loops = settings.enabled || Object.keys(settings.budgets).length > 0 ? settings : undefined;
    const needs: PassageNeeds = {
      gate: thisGate,
      hooks,
      policy,
      loops,
      log,
      judge,
      ...(approver === undefined ? {} : { approver }),
      ...(events === undefined ? {} : { events }),
      frame,
    };
    const thisRun = {};

    function wrapOne<Tool extends object>(tool: Tool, wrap: WrapOptions, name?: string): Tool {
      const reads = wrap.parameters ?? 'input-first';
      if (findEntryPoints(tool, reads).length === 0) return tool;
      const gated = describeTool(tool, wrap, name);
      refuseUnnamed(gated, policy);
      const checked = isChecked(gated);
      const advise = loops === undefined ? NO_ADVICE : adviceFor(tool, options);
      const guarded: GuardedTool = {
        tool: gated,
        parse: parserFor(tool, wrap, bindings),
        fill: bindings.defaultsOf(tool),
        checkOutput: bindings.outputOf(tool),
        checked,
        advise,
      };
      const wrapped = wrapEntries(tool, {
        gate: thisGate,
        run: thisRun,
        reads,
        guard: (entry) =>
          // If no rule, hook or loop setting can ever apply to this tool, its function is called directly.
          checked || loops !== undefined
            ? guardEntry(entry, guarded, needs)
            : (...given) => entry.enter.apply(entry.holder, given),
      });
      return advise === adviseInModelOutput ? withConverter(wrapped, tool) : wrapped;
    }

    return {
      wrapTool(tool, wrap = {}) {
        checkWrapOptions(wrap);
        return wrapOne(tool, wrap);
      },
      wrapTools(tools, wrap = {}) {
        checkWrapAllOptions(wrap);
        return wrapAll(tools, wrap, wrapOne);
      },
      // A run that is opened from an unattended run is unattended, too.
      openRun: (next) => (run.unattended === true ? openRun({ ...next, unattended: true }) : openRun(next)),
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
  wrap: WrapAllOptions,
  wrapOne: (tool: object, wrap: WrapOptions, name?: string) => object,
): Tools {
  if (Array.isArray(tools)) return tools.map((tool: object) => wrapOne(tool, wrap)) as unknown as Tools;
  const entries = Object.entries(tools).map(([name, tool]) => [name, wrapOne(tool as object, wrap, name)]);
  return Object.fromEntries(entries) as Tools;
}

/**
 * Rejects a tool without a module if any rule names tools. Rules name `module.tool`, so a tool without a module would escape the rule that
 * was written for it.
 */
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

/** Reads the host's trace option, which may be a function that throws. A call must not fail because of a trace. */
function parseSafely(trace: RunOptions['trace']): ReturnType<RunFrame['trace']> {
  try {
    return parseTrace(typeof trace === 'function' ? trace() : trace);
  } catch {
    return undefined;
  }
}

/** If the host's log throws, only that log line is lost. */
function guardLog(log: Log): Log {
  const guard =
    (level: keyof Log): Log['info'] =>
    (facts, message) => {
      try {
        log[level](facts, message);
      } catch {
        // There is nowhere left to report it.
      }
    };
  return { debug: guard('debug'), info: guard('info'), warn: guard('warn'), error: guard('error') };
}

function parserFor(tool: object, { validate }: WrapOptions, { parserOf }: GateBindings): ParseInput {
  if (validate === undefined) return parserOf(tool);
  return (value) => {
    const problems = validate(value);
    return problems.length === 0 ? { ok: true, value } : { ok: false, problems };
  };
}
