import type { JsonObject } from '../../base/json.ts';
import type { Effect, RunnerName, ToolLimits, ToolPoll } from '../../domain/tool/tool.ts';
import type { Services } from '../../domain/ports/tool-services.ts';
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

/** What `run` may return without an output schema. It is checked again when it is converted to plain data. */
export type ToolReturn = unknown;

export interface ToolOptions<
  Input extends StandardSchema,
  Output extends StandardSchema,
  Setup,
  Needs extends keyof Services = never,
> {
  readonly description: string;
  readonly input: Input;
  /** Schema of what `run` returns. A result that does not match is `failed`; a result that reports failure is not checked. */
  readonly output?: Output;
  /** Default `unsafe`: the plane never starts the tool twice for one call. */
  readonly effect?: Effect;
  /** True for a shell, code execution and anything else without a sandbox. No agent may call such a tool unless the policy names it. */
  readonly privileged?: boolean;
  /** True if calls of the tool start in accept order, one at a time per subject. */
  readonly serial?: boolean;
  readonly pinned?: 'caller';
  /**
   * True if the schema changes arguments (trims, lowers, coerces) and its result is JSON. The worker then parses the arguments once, before
   * the rules, and rules, hooks, approvers, the audit and `run` all get the parsed arguments. Without this flag, arguments that the schema
   * would change make the call `invalid`.
   */
  readonly normalises?: boolean;
  /**
   * Names of secrets that the tool may get, as `secret:NAME` in its arguments and its setup or with `ctx.secrets.get`. `PREFIX_*` names
   * several. `own:NAME` keeps a secret out of arguments.
   */
  readonly secrets?: readonly string[];
  readonly limits?: Partial<ToolLimits>;
  /** Set for a tool that is meant to be polled. Calls that are no faster than `everyMs` are never treated as a loop. */
  readonly poll?: ToolPoll;
  /** JSON pointers into the result. Only a change in these values counts as progress. With an empty list no change counts. */
  readonly progress?: readonly string[];
  /** Cost of one call, for the budget of its run. If the tool calls `ctx.cost`, that value counts instead. */
  readonly cost?: number;
  /** RE2 patterns. A bare string that this tool returns and that matches one of them is a denial. */
  readonly denials?: readonly string[];
  run(args: OutputOf<Input>, ctx: ToolContext<Setup, Needs>): Returned<Output> | Promise<Returned<Output>>;
}

type Returned<Output extends StandardSchema> = StandardSchema extends Output
  ? ToolReturn
  : InputOf<Output> | ToolContent | readonly ToolContent[];

/** A tool as the runner calls it. The TypeScript types of arguments and result were already checked in the tool author's code. */
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
  // Each tool has its own argument type. Here all tools share one type, and only parsed values are passed.
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
  /** Services that its tools get as `ctx.services`. A worker that lacks one of them does not serve the module. */
  readonly needs?: readonly string[];
  readonly tools: Readonly<Record<string, ToolDefinition>>;
  /** Resources: what can be read by its URI. */
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
  /** If this is a function, it gets a `tool` function whose context has the types of this module's setup and services. */
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

/**
 * Makes the default export of a module file. Only checks that `options` is a plain object; `describeModule` checks the rest when the module
 * is loaded.
 */
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

/** Makes a list of definitions. At run time every module gets the same maker function; only its type differs. */
function made<Definition, Maker>(
  given: readonly Definition[] | ((maker: Maker) => readonly Definition[]),
  maker: unknown,
): readonly Definition[] {
  return Object.freeze([...(typeof given === 'function' ? given(maker as Maker) : given)]);
}
