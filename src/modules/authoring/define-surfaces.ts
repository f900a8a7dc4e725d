import { copyPlain } from './plain-object.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ToolLimits } from '../../domain/tool/tool.ts';
import type { Services } from '../../domain/ports/tool-services.ts';
import type { ToolContent } from './content-blocks.ts';
import type { OutputOf, StandardSchema } from './standard-schema.ts';
import type { ToolContext } from './tool-context.ts';

interface SurfaceOptions {
  /** Letters, digits, `_` and `-`, up to 50. */
  readonly name: string;
  /** Shown to people instead of the name. */
  readonly title?: string;
  readonly description?: string;
  /** Names of secrets that the surface may get with `ctx.secrets.get`, as for a tool. */
  readonly secrets?: readonly string[];
  readonly limits?: Partial<ToolLimits>;
}

/** The argument that a person is typing, and the known values of the other arguments. */
export interface AskedCompletion {
  readonly argument: string;
  readonly value: string;
  readonly known: Readonly<Record<string, string>>;
}

/** The proposed values, best first. Only the first 100 are sent. */
export type GivenCompletion =
  | readonly string[]
  | { readonly values: readonly string[]; readonly total?: number; readonly hasMore?: boolean };

export type ResourceContent = { readonly uri?: string; readonly mediaType?: string } & (
  | { readonly text: string }
  | { readonly bytes: Uint8Array }
);

/**
 * What `read` may return. Text or bytes get the media type that the resource declares; `undefined` means that there is no such resource.
 */
export type ResourceReturn = string | Uint8Array | ResourceContent | readonly ResourceContent[] | undefined;

export type ResourceOptions<Setup, Needs extends keyof Services = never> = SurfaceOptions & {
  readonly mediaType?: string;
  /** `params` are the variables of the template, decoded. They come from the caller: check them. */
  read(
    params: Readonly<Record<string, string>>,
    ctx: ToolContext<Setup, Needs>,
    uri: string,
  ): ResourceReturn | Promise<ResourceReturn>;
  complete?(asked: AskedCompletion, ctx: ToolContext<Setup, Needs>): GivenCompletion | Promise<GivenCompletion>;
} & (
    | { readonly uri: string; readonly uriTemplate?: never }
    /** URI template of RFC 6570, levels 1 and 2: `notes://{folder}/{+path}`. */
    | { readonly uriTemplate: string; readonly uri?: never }
  );

export interface PromptMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string | ToolContent;
}

export type PromptReturn =
  | string
  | readonly PromptMessage[]
  | { readonly description?: string; readonly messages: readonly PromptMessage[] };

export interface PromptOptions<
  Input extends StandardSchema,
  Setup,
  Needs extends keyof Services = never,
> extends SurfaceOptions {
  /** Schema of an object; its members are the arguments that the prompt asks for. */
  readonly arguments?: Input;
  /** As for a tool: true if the schema changes arguments, such as numbers that clients send as text, and its result is JSON. */
  readonly normalises?: boolean;
  render(args: OutputOf<Input>, ctx: ToolContext<Setup, Needs>): PromptReturn | Promise<PromptReturn>;
  complete?(asked: AskedCompletion, ctx: ToolContext<Setup, Needs>): GivenCompletion | Promise<GivenCompletion>;
}

/** A resource as the worker calls it. */
export interface ResourceDefinition extends SurfaceOptions {
  readonly uri?: string;
  readonly uriTemplate?: string;
  readonly mediaType?: string;
  // Each resource has its own types of setup and services. Here all resources share one type.
  // oxlint-disable-next-line typescript/no-explicit-any
  read(params: Readonly<Record<string, string>>, ctx: ToolContext<any, any>, uri: string): unknown;
  // oxlint-disable-next-line typescript/no-explicit-any
  complete?(asked: AskedCompletion, ctx: ToolContext<any, any>): unknown;
}

export interface PromptDefinition extends SurfaceOptions {
  readonly arguments?: StandardSchema | JsonObject;
  readonly normalises?: boolean;
  // oxlint-disable-next-line typescript/no-explicit-any
  render(args: any, ctx: ToolContext<any, any>): unknown;
  // oxlint-disable-next-line typescript/no-explicit-any
  complete?(asked: AskedCompletion, ctx: ToolContext<any, any>): unknown;
}

export type ResourceMaker<Setup, Needs extends keyof Services = never> = (
  options: ResourceOptions<Setup, Needs>,
) => ResourceDefinition;

export type PromptMaker<Setup, Needs extends keyof Services = never> = <
  Input extends StandardSchema = StandardSchema<Record<string, never>>,
>(
  options: PromptOptions<Input, Setup, Needs>,
) => PromptDefinition;

/** Defines a resource: something that can be read by its URI. */
export const resource: ResourceMaker<Record<string, unknown>> = (options) =>
  copyPlain(options, 'resource') as ResourceDefinition;

/** Defines a prompt: messages that a person can start a conversation with. */
export const prompt: PromptMaker<Record<string, unknown>> = (options) =>
  copyPlain(options, 'prompt') as PromptDefinition;
