import type { JsonObject } from '../domain/json.ts';
import type { Effect, RunnerName, ToolLimits, ToolPoll } from '../domain/tool.ts';
import type { Services } from '../ports/tool-services.ts';
import type { ToolContent } from './content-blocks.ts';
import {
  prompt,
  resource,
  type PromptDefinition,
  type PromptMaker,
  type ResourceDefinition,
  type ResourceMaker,
} from './define-surfaces.ts';
import { copyPlain } from './plain-object.ts';
import type { InputOf, OutputOf, StandardSchema } from './standard-schema.ts';
import type { ToolContext } from './tool-context.ts';

/** What `run` may return without an output schema; checked again when it is made plain. */
export type ToolReturn = unknown;

export interface ToolOptions<
  Input extends StandardSchema,
  Output extends StandardSchema,
  Setup,
  Needs extends keyof Services = never,
> {
  readonly description: string;
  readonly input: Input;
  /** Describes what `run` returns. A result that does not match is `failed`; a result that reports failure is not checked. */
  readonly output?: Output;
  /** Default `unsafe`: never started twice for one call. */
  readonly effect?: Effect;
  /** Shell, code execution, anything unsandboxed: closed unless the policy names it. */
  readonly privileged?: boolean;
  /** Starts in accept order, one at a time per subject. */
  readonly serial?: boolean;
  readonly pinned?: 'caller';
  /**
   * The schema changes arguments (trims, lowers, coerces) and its result is JSON. The worker then parses before the rules, once, and
   * rules, hooks, approvers, the audit and `run` all get the result. Without it, a schema that changes arguments makes the call `invalid`.
   */
  readonly normalises?: boolean;
  /** Names of secrets it may be given, as `secret:NAME` in its arguments and its setup or by `ctx.secrets.get`; `PREFIX_*` for several. `own:NAME` keeps it out of arguments. */
  readonly secrets?: readonly string[];
  readonly limits?: Partial<ToolLimits>;
  /** Made to be asked again and again: not faster than `everyMs`, it is never taken for a loop. */
  readonly poll?: ToolPoll;
  /** JSON pointers into the result: only what they name counts as progress. An empty list: nothing does. */
  readonly progress?: readonly string[];
  /** Of one call, for the budget of its run. `ctx.cost` counts instead, if it is called. */
  readonly cost?: number;
  /** RE2 patterns: a bare string this tool returns that matches one is a denial. */
  readonly denials?: readonly string[];
  run(args: OutputOf<Input>, ctx: ToolContext<Setup, Needs>): Returned<Output> | Promise<Returned<Output>>;
}

type Returned<Output extends StandardSchema> = StandardSchema extends Output
  ? ToolReturn
  : InputOf<Output> | ToolContent | readonly ToolContent[];

/** A tool as the runner enters it. Types of arguments and result were checked where it was written. */
export interface ToolDefinition {
  readonly description: string;
  readonly input: StandardSchema | JsonObject;
  readonly output?: StandardSchema | JsonObject;
  readonly effect?: Effect;
  readonly privileged?: boolean;
  readonly serial?: boolean;
  readonly pinned?: 'caller';
  readonly normalises?: boolean;
  readonly secrets?: readonly string[];
  readonly limits?: Partial<ToolLimits>;
  readonly poll?: ToolPoll;
  readonly progress?: readonly string[];
  readonly cost?: number;
  readonly denials?: readonly string[];
  // Each tool has its own argument type; they meet here, where only parsed values are passed.
  // oxlint-disable-next-line typescript/no-explicit-any
  run(args: any, ctx: ToolContext<any, any>): unknown;
}

export type ToolMaker<Setup, Needs extends keyof Services = never> = <
  Input extends StandardSchema,
  Output extends StandardSchema = StandardSchema,
>(
  options: ToolOptions<Input, Output, Setup, Needs>,
) => ToolDefinition;

export interface ModuleDefinition {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly pool?: string;
  readonly runner?: RunnerName;
  readonly setup?: StandardSchema | JsonObject;
  /** Services its tools get as `ctx.services`. Not served where one of them is not configured. */
  readonly needs?: readonly string[];
  readonly tools: Readonly<Record<string, ToolDefinition>>;
  /** What can be read by its URI. */
  readonly resources?: readonly ResourceDefinition[];
  readonly prompts?: readonly PromptDefinition[];
}

export interface ModuleOptions<Setup extends StandardSchema, Needs extends keyof Services = never> extends Omit<
  ModuleDefinition,
  'setup' | 'tools' | 'needs' | 'resources' | 'prompts'
> {
  /** Configuration of one instance of this module. */
  readonly setup?: Setup;
  readonly needs?: readonly Needs[];
  /** As a function it gets a `tool` that knows the types of `ctx.setup` and `ctx.services`. */
  readonly tools:
    | Readonly<Record<string, ToolDefinition>>
    | ((tool: ToolMaker<OutputOf<Setup>, Needs>) => Readonly<Record<string, ToolDefinition>>);
  readonly resources?:
    | readonly ResourceDefinition[]
    | ((resource: ResourceMaker<OutputOf<Setup>, Needs>) => readonly ResourceDefinition[]);
  readonly prompts?:
    | readonly PromptDefinition[]
    | ((prompt: PromptMaker<OutputOf<Setup>, Needs>) => readonly PromptDefinition[]);
}

export const tool: ToolMaker<Record<string, unknown>> = (options) => copyPlain(options, 'tool') as ToolDefinition;

/** The default export of a module file. Nothing runs or is checked here; `describeModule` does that when the module is loaded. */
export function defineModule<
  Setup extends StandardSchema = StandardSchema<Record<string, unknown>>,
  const Needs extends keyof Services = never,
>(options: ModuleOptions<Setup, Needs>): ModuleDefinition {
  const tools =
    typeof options.tools === 'function' ? options.tools(tool as ToolMaker<OutputOf<Setup>, Needs>) : options.tools;
  const { resources, prompts, ...rest } = copyPlain(options, 'defineModule') as typeof options;
  return Object.freeze({
    ...rest,
    tools: Object.freeze({ ...tools }),
    ...(resources === undefined ? {} : { resources: made(resources, resource) }),
    ...(prompts === undefined ? {} : { prompts: made(prompts, prompt) }),
  }) as ModuleDefinition;
}

/** The maker is the same whatever its types say; they are the module's. */
function made<Definition, Maker>(
  given: readonly Definition[] | ((maker: Maker) => readonly Definition[]),
  maker: unknown,
): readonly Definition[] {
  return Object.freeze([...(typeof given === 'function' ? given(maker as Maker) : given)]);
}
