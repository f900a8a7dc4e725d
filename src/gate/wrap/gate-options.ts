import type { HookedTool } from '../../domain/policy/hook.ts';
import { NAME_PATTERN } from '../../domain/identity/ids.ts';
import type { Identity } from '../../domain/identity/session.ts';
import { EFFECTS } from '../../domain/tool/tool.ts';
import type { DiagnosticListener, DiagnosticSubscription } from '../../domain/ports/events.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { HookPlugin } from '../hooks/define-hooks.ts';
import type { HookSet } from '../hooks/hook-set.ts';
import {
  aBoolean,
  aFunction,
  checkOptions,
  membersOf,
  oneOf,
  text,
  withFunctions,
  type OptionTable,
} from './check-options.ts';
import type { ToolFacts } from './describe-tool.ts';
import { PARAMETER_ORDERS, type ParameterOrder } from './entry-points.ts';
import type { GateApprover, GatePolicy } from './gate-parts.ts';

/** The identity of a gate. `unattended` is set per run. */
export type GateIdentity = Partial<Omit<Identity, 'unattended'>>;

export interface GateOptions {
  /** Rules, loops and budgets, as in a policy file and checked like one. Loop detection is on even without it. */
  readonly policy?: GatePolicy;
  /** Plugins, or the result of `loadHooks`. */
  readonly hooks?: readonly HookPlugin[] | HookSet;
  /** Without it, a call that needs an approval is denied. */
  readonly approver?: GateApprover;
  /** The identity that hooks and rules see as the caller. */
  readonly identity?: GateIdentity;
  readonly session?: string;
  /** The existing tools. If given, hooks and rules for tools that do not exist are rejected, as a worker and `policy check` do. */
  readonly tools?: readonly (Pick<HookedTool, 'id'> & Partial<HookedTool>)[];
  readonly log?: Log;
  /**
   * Receives the events that a worker would emit: loops, approvals, blocked and failed calls, hooks that fail. Events never contain a value
   * of a call.
   */
  readonly onEvent?: DiagnosticListener | DiagnosticSubscription;
  /** Puts the advice of loop detection into a result, instead of the default way. */
  readonly addAdvice?: (result: unknown, advice: string) => unknown;
  /** The W3C `traceparent` of the host's span that a call is part of. A function is called for each call. */
  readonly trace?: TraceOfHost;
}

export type TraceOfHost = string | (() => string | undefined);

/** Options of one run. What is left out is taken from the gate. */
export interface RunOptions {
  /** The host's name for this run. Events, hooks and approvals contain it. Default: a new random id. */
  readonly id?: string;
  /**
   * After loop detection ended a run of a session, the next runs of that session are watched more strictly. Use one session per person or
   * conversation.
   */
  readonly session?: string;
  readonly identity?: GateIdentity;
  /** No person watches this run. The approver is not asked; a call that would need an approval ends with APPROVAL_DENIED_AT_ONCE. */
  readonly unattended?: boolean;
  readonly trace?: TraceOfHost;
}

export interface WrapOptions extends ToolFacts {
  /** How the tool's function takes its parameters. Default `input-first`. */
  readonly parameters?: ParameterOrder;
  /** Returns the problems of arguments that a hook has changed. Used instead of the tool's own schema. */
  readonly validate?: (args: Record<string, unknown>) => readonly string[];
}

export type WrapAllOptions = Omit<WrapOptions, 'id'>;

const IDENTITY = [
  'tenant',
  'subject',
  'agent',
  'channel',
  'space',
  'platform',
  'delegators',
] satisfies (keyof GateIdentity)[];
const SUBSCRIPTION = [
  'listener',
  'kinds',
  'where',
  'maxWaiting',
  'spans',
  'samples',
  'sampledOnly',
] satisfies (keyof DiagnosticSubscription)[];
const id = text(200);

const trace = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'function'
    ? undefined
    : 'expected a traceparent, or a function that gives one';

const GATE: OptionTable<GateOptions> = {
  policy: undefined,
  hooks: (value: unknown) => (typeof value === 'object' && value !== null ? undefined : 'expected a list of plugins'),
  approver: withFunctions('request', 'wait'),
  identity: membersOf(IDENTITY),
  session: id,
  tools: (value: unknown) => (Array.isArray(value) ? undefined : 'expected a list of tools: [{ id }]'),
  log: withFunctions('debug', 'info', 'warn', 'error'),
  onEvent: (value: unknown) => (typeof value === 'function' ? undefined : membersOf(SUBSCRIPTION)(value)),
  addAdvice: aFunction,
  trace,
};

/** Options that belong inside `policy`. If one next to `policy` were ignored silently, calls would pass that it should stop. */
const IN_POLICY = Object.fromEntries(
  ['roles', 'rules', 'unmatched', 'approvers', 'loops', 'unattended'].map((name) => [name, `policy: { ${name} }`]),
);

const RUN: OptionTable<RunOptions> = {
  id,
  session: id,
  identity: membersOf(IDENTITY),
  unattended: aBoolean,
  trace,
};

const WRAP_ALL: OptionTable<WrapAllOptions> = {
  module: (value: unknown) =>
    typeof value === 'string' && NAME_PATTERN.test(value) ? undefined : 'expected a name: letters, digits, _ and -',
  effect: oneOf(EFFECTS),
  privileged: aBoolean,
  parameters: oneOf(PARAMETER_ORDERS),
  validate: aFunction,
  // `describeTool` checks these three.
  poll: undefined,
  progress: undefined,
  cost: undefined,
};

const WRAP: OptionTable<WrapOptions> = { ...WRAP_ALL, id: text(1000) };

export const checkGateOptions = (options: GateOptions): void => checkOptions('createGate', options, GATE, IN_POLICY);
export const checkRunOptions = (options: RunOptions): void => checkOptions('openRun', options, RUN, { run: 'id' });
export const checkWrapOptions = (options: WrapOptions): void => checkOptions('wrapTool', options, WRAP, { name: 'id' });
export const checkWrapAllOptions = (options: WrapAllOptions): void =>
  checkOptions('wrapTools', options, WRAP_ALL, { id: 'module' });
