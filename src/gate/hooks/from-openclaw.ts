import {
  APPROVAL_DECISIONS,
  SEVERITIES,
  type ApprovalDecision,
  type Resolution,
  type Severity,
} from '../../domain/policy/approval.ts';
import type {
  ApprovalRequest,
  ApprovalResolved,
  BeforeAnswer,
  BeforeToolCall,
  HookContext,
} from '../../domain/policy/hook.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { defineHooks, type HookPlugin } from './define-hooks.ts';

/** The event that OpenClaw passes to a `before_tool_call` handler. */
export interface OpenClawEvent {
  readonly toolName: string;
  /** A copy for this handler: changing it has no effect, as in OpenClaw. */
  // oxlint-disable-next-line typescript/no-explicit-any -- Handlers read members without a check, as in their own project.
  readonly params: Record<string, any>;
  readonly runId: string;
  readonly toolCallId: string;
}

export interface OpenClawContext {
  readonly toolName: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly toolCallId: string;
  readonly abortSignal: AbortSignal;
}

export interface OpenClawApproval {
  readonly title?: string;
  readonly description?: string;
  readonly severity?: Severity;
  readonly timeoutMs?: number;
  /** `allow` is treated as `deny`. */
  readonly timeoutBehavior?: 'allow' | 'deny';
  readonly allowedDecisions?: readonly ApprovalDecision[];
  readonly onResolution?: (decision: Resolution) => unknown;
  /** Other members have no effect here: `pluginId`, `timeoutReason`, `scope`. */
  readonly [other: string]: unknown;
}

export interface OpenClawAnswer {
  readonly params?: Record<string, unknown>;
  readonly block?: boolean;
  readonly blockReason?: string;
  readonly requireApproval?: OpenClawApproval;
}

export type OpenClawHandler = (
  event: OpenClawEvent,
  context: OpenClawContext,
) => OpenClawAnswer | undefined | void | null | Promise<OpenClawAnswer | undefined | void | null>;

export interface FromOpenClawOptions {
  /** Id of the plugin. Default `openclaw`. If there are several plugins, each needs its own id. */
  readonly id?: string;
  /** `priority` and `timeoutMs` as they were passed to `api.on`. */
  readonly priority?: number;
  readonly timeoutMs?: number;
  /** Sallyport ids of the tools that the handler is called for. Default: all tools. */
  readonly tools?: readonly string[];
  /** Maps a tool's Sallyport id to the name that the handler knows: `{ 'shell.run': 'exec' }`. A tool without an entry keeps its id. */
  readonly toolNames?: Readonly<Record<string, string>>;
  /** Called once for each thing that works differently than in OpenClaw. Default: `process.emitWarning`. */
  readonly warn?: (message: string) => void;
}

const MAX_TIMEOUT_MS = 600_000;
/** Max pending questions whose handler has an `onResolution`; the oldest are evicted first. */
const MAX_WAITING = 1000;
const ANSWER_KEYS: readonly string[] = [
  'params',
  'block',
  'blockReason',
  'requireApproval',
] satisfies (keyof OpenClawAnswer)[];

type OnResolution = NonNullable<OpenClawApproval['onResolution']>;

/**
 * Turns a `before_tool_call` handler of an OpenClaw plugin into a plugin of this gate, for the library and for a worker. The handler needs
 * no change. An answer that cannot be understood blocks the call, as with every hook. `onResolution` is called in the process that called
 * the handler.
 */
export function fromOpenClaw(handler: OpenClawHandler, options: FromOpenClawOptions = {}): HookPlugin {
  if (typeof handler !== 'function') throw new TypeError('fromOpenClaw takes a before_tool_call handler.');
  const { id = 'openclaw', tools, priority, timeoutMs, toolNames = {} } = options;
  const warn = warnOnce(id, options.warn);
  const waiting = new Map<string, OnResolution>();
  const settings = {
    ...(tools === undefined ? {} : { tools }),
    ...(priority === undefined ? {} : { priority }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  return defineHooks({
    id,
    hooks: [
      {
        id: 'before-tool-call',
        on: 'before_tool_call',
        ...settings,
        async run(call, context) {
          const toolName = Object.hasOwn(toolNames, call.tool) ? toolNames[call.tool]! : call.tool;
          const answer: unknown = await handler(eventOf(call, toolName), contextOf(call, toolName, context));
          const read = readAnswer(answer, call, warn);
          if (read?.onResolution !== undefined) remember(waiting, keyOf(call), read.onResolution);
          return read?.answer;
        },
      },
      {
        id: 'on-resolution',
        on: 'approval_resolved',
        ...settings,
        run(approval) {
          const onResolution = waiting.get(keyOf(approval));
          waiting.delete(keyOf(approval));
          return onResolution?.(approval.resolution);
        },
      },
    ],
  });
}

function eventOf({ arguments: args, run, callId }: BeforeToolCall, toolName: string): OpenClawEvent {
  return { toolName, params: structuredClone(args), runId: run, toolCallId: callId };
}

function contextOf(
  { session, run, callId, identity }: BeforeToolCall,
  toolName: string,
  context: HookContext,
): OpenClawContext {
  return {
    toolName,
    agentId: identity.agent,
    sessionKey: session,
    sessionId: session,
    runId: run,
    toolCallId: callId,
    // Creates the signal on first access: most handlers never use it.
    get abortSignal() {
      return context.signal;
    },
  };
}

interface Answered {
  readonly answer: BeforeAnswer;
  readonly onResolution?: OnResolution;
}

function readAnswer(given: unknown, call: BeforeToolCall, warn: (message: string) => void): Answered | undefined {
  if (given === undefined || given === null) return undefined;
  if (!isJsonObject(given)) throw new TypeError('the handler answered something that is no object');
  const unknown = Object.keys(given).find((key) => !ANSWER_KEYS.includes(key));
  if (unknown !== undefined) throw new TypeError(`the handler answered with the unknown key ${unknown}`);
  const { block, blockReason, params, requireApproval } = given as OpenClawAnswer;
  if (block === true) return { answer: { block: true, ...textOf('reason', blockReason) } };
  // The author probably meant to block, so this answer must not let the call pass.
  if (block === undefined && blockReason !== undefined) throw new TypeError('a blockReason without block');
  if (params !== undefined && !isJsonObject(params)) throw new TypeError('params is no object');
  if (requireApproval !== undefined && !isJsonObject(requireApproval))
    throw new TypeError('requireApproval is no object');
  const onResolution = requireApproval?.onResolution;
  return {
    answer: {
      // As in OpenClaw, the given members replace only the arguments of the same name.
      ...(params === undefined ? {} : { params: { ...call.arguments, ...(params as JsonObject) } }),
      ...(requireApproval === undefined ? {} : { requireApproval: readApproval(requireApproval, warn) }),
    },
    ...(typeof onResolution === 'function' ? { onResolution } : {}),
  };
}

function readApproval(given: OpenClawApproval, warn: (message: string) => void): ApprovalRequest {
  const { title, description, severity, timeoutMs, timeoutBehavior } = given;
  if (timeoutBehavior === 'allow')
    warn('timeoutBehavior "allow" is taken as "deny": a question without an answer never allows a call');
  const decisions = readDecisions(given.allowedDecisions);
  return {
    ...textOf('title', title),
    ...textOf('description', description),
    ...(severity !== undefined && SEVERITIES.includes(severity) ? { severity } : {}),
    ...(typeof timeoutMs === 'number' && timeoutMs > 0
      ? { timeoutMs: Math.ceil(Math.min(timeoutMs, MAX_TIMEOUT_MS)) }
      : {}),
    decisions,
    // The gate remembers an `allow-always`. In OpenClaw the plugin has to do that in `onResolution`.
    grantable: decisions.includes('allow-always'),
  };
}

/** Without a list, all three decisions are allowed, as in OpenClaw. */
function readDecisions(given: unknown): ApprovalDecision[] {
  if (given === undefined) return [...APPROVAL_DECISIONS];
  const known = Array.isArray(given) ? APPROVAL_DECISIONS.filter((decision) => given.includes(decision)) : [];
  if (known.length === 0) throw new TypeError('allowedDecisions names none of the decisions');
  return known;
}

function textOf<Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: string } {
  return typeof value === 'string' && value !== '' ? ({ [name]: value } as { [Key in Name]: string }) : {};
}

function keyOf({ session, run, callId }: BeforeToolCall | ApprovalResolved): string {
  return JSON.stringify([session, run, callId]);
}

function remember(waiting: Map<string, OnResolution>, key: string, onResolution: OnResolution): void {
  waiting.set(key, onResolution);
  if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value!);
}

function warnOnce(id: string, warn = (message: string) => process.emitWarning(message)): (message: string) => void {
  const said = new Set<string>();
  return (message) => {
    if (said.has(message)) return;
    said.add(message);
    warn(`${id}: ${message}`);
  };
}
