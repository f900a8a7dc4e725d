import type { HookedTool } from '../../domain/hook.ts';
import { NAME_PATTERN } from '../../domain/ids.ts';
import type { Identity } from '../../domain/session.ts';
import { EFFECTS } from '../../domain/tool.ts';
import type { DiagnosticListener, DiagnosticSubscription } from '../../ports/events.ts';
import type { Log } from '../../ports/log.ts';
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

/** Whether it is attended is said for each run. */
export type GateIdentity = Partial<Omit<Identity, 'unattended'>>;

export interface GateOptions {
  /** Rules, loops and budgets, as in a policy file and checked like one. Loop detection is on without it, too. */
  readonly policy?: GatePolicy;
  /** Plugins, or what `loadHooks` gave. */
  readonly hooks?: readonly HookPlugin[] | HookSet;
  /** Without it a call that somebody wants approved is denied. */
  readonly approver?: GateApprover;
  /** Whose calls they are, for hooks and rules. */
  readonly identity?: GateIdentity;
  readonly session?: string;
  /** With them hooks and rules for tools that are not there are refused, as a worker and `policy check` do. */
  readonly tools?: readonly (Pick<HookedTool, 'id'> & Partial<HookedTool>)[];
  readonly log?: Log;
  /** Hears what a worker would tell: loops, approvals, blocked and failed calls, hooks that fail. Never a value of a call. */
  readonly onEvent?: DiagnosticListener | DiagnosticSubscription;
  /** Puts the advice of loop detection into a result, instead of what is done without it. */
  readonly addAdvice?: (result: unknown, advice: string) => unknown;
  /** The W3C `traceparent` of the host's span that a call is a part of, asked for with each call. */
  readonly trace?: TraceOfHost;
}

export type TraceOfHost = string | (() => string | undefined);

/** What one run has of its own; what is left out is that of the gate. */
export interface RunOptions {
  /** What the host calls this run. Events, hooks and approvals name it; without it, a new random id. */
  readonly id?: string;
  /** A session that loop detection had to stop is watched more closely in its next runs. One per person or conversation. */
  readonly session?: string;
  readonly identity?: GateIdentity;
  /** No person watches this run: the approver is not asked, and what would need a person ends with APPROVAL_DENIED_AT_ONCE. */
  readonly unattended?: boolean;
  readonly trace?: TraceOfHost;
}

export interface WrapOptions extends ToolFacts {
  /** How its function takes its parameters; `input-first` without it. */
  readonly parameters?: ParameterOrder;
  /** Problems of arguments that a hook has changed, instead of a look at the tool's own schema. */
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

/** Options of a policy stand in `policy`. Beside it they would leave the gate open. */
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
  // Checked with what they are for.
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
