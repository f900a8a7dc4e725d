import type { PublishedTool } from '../domain/tool/catalog.ts';
import type { ContentBlock, ResourceBlock } from '../domain/outcome/content.ts';
import { errorOutcome } from '../domain/errors/errors.ts';
import type { CallId, ToolId } from '../domain/identity/ids.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import type { PromptArgument, PromptSurface, ResourceSurface, Surface } from '../domain/tool/surface.ts';
import { isUri, normaliseUri, parseUriTemplate, type ReadUri } from '../base/uri-template.ts';
import type { CallAnswer, CallOptions } from './call-answer.ts';
import type { Caller } from './known-sessions.ts';
import type { SessionToolkit } from './session-toolkits.ts';

interface SurfaceView {
  /** The id of the catalog entry; permissions, rules and the audit use it. */
  readonly id: ToolId;
  readonly module: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** Whether `complete` can return suggestions. */
  readonly completes: boolean;
}

export type ResourceView = SurfaceView & { readonly mediaType?: string } & (
    | { readonly uri: string }
    | { readonly uriTemplate: string }
  );

export interface PromptView extends SurfaceView {
  readonly arguments: readonly PromptArgument[];
}

export type ReadAnswer =
  | { readonly kind: 'read'; readonly callId: CallId; readonly contents: readonly ResourceBlock[] }
  | CallAnswer;

export interface ShownMessage {
  readonly role: 'user' | 'assistant';
  readonly content: ContentBlock;
}

export type PromptAnswer =
  | {
      readonly kind: 'rendered';
      readonly callId: CallId;
      readonly description?: string;
      readonly messages: readonly ShownMessage[];
    }
  | CallAnswer;

export interface Completion {
  readonly values: readonly string[];
  readonly hasMore: boolean;
  readonly total?: number;
}

export type CompletionAnswer = ({ readonly kind: 'completed' } & Completion) | CallAnswer;

export interface CompletionRequest {
  /** The URI template of a resource, or a prompt name as `getPrompt` accepts it. */
  readonly of: { readonly uriTemplate: string } | { readonly prompt: string };
  readonly argument: string;
  /** The text typed so far. */
  readonly value: string;
  /** Values of the other arguments that are already known. */
  readonly known?: Readonly<Record<string, string>>;
}

/** What modules offer in addition to tools: resources and prompts. Every use is a call: identity, permission, gate and audit apply. */
export interface Surfaces {
  /** The resources that the agent of this session may read. */
  resources(session: Caller): Promise<readonly ResourceView[]>;
  /** Answers `read` with the contents. If the resource could not be read, returns the answer of the call. */
  readResource(session: Caller, uri: string, options?: CallOptions): Promise<ReadAnswer>;
  prompts(session: Caller): Promise<readonly PromptView[]>;
  /** Finds a prompt by `module.name`, or by `name` alone if only one prompt has that name. */
  getPrompt(session: Caller, name: string, args?: JsonObject, options?: CallOptions): Promise<PromptAnswer>;
  complete(session: Caller, request: CompletionRequest, options?: CallOptions): Promise<CompletionAnswer>;
}

interface Needs {
  readonly toolkit: (session: Caller) => Promise<SessionToolkit>;
  readonly call: (session: Caller, tool: string, args: JsonObject, options?: CallOptions) => Promise<CallAnswer>;
}

const MAX_SHOWN = 200;

export function createSurfaces({ toolkit, call }: Needs): Surfaces {
  const listOf = async <Kind extends Surface['kind']>(session: Caller, kind: Kind): Promise<Found<Kind>[]> => {
    const { surfaces } = await toolkit(session);
    return surfaces.filter((found): found is Found<Kind> => found.tool.surface?.kind === kind);
  };

  async function findPrompt(session: Caller, name: string): Promise<Found<'prompt'> | Outcome> {
    const prompts = await listOf(session, 'prompt');
    const named = prompts.filter(({ tool, module }) =>
      [tool.surface.name, `${module.id}.${tool.surface.name}`].includes(name),
    );
    const [only] = named;
    if (only !== undefined && named.length === 1) return only;
    const several = named.map(({ tool, module }) => `${module.id}.${tool.surface.name}`);
    return errorOutcome('PROMPT_UNKNOWN', { name: String(name).slice(0, MAX_SHOWN), several });
  }

  async function findCompleted(session: Caller, of: CompletionRequest['of']): Promise<Found | Outcome> {
    if ('prompt' in of) return findPrompt(session, of.prompt);
    const resources = await listOf(session, 'resource');
    const found = resources.find(({ tool }) => addressOf(tool.surface) === of.uriTemplate);
    return found ?? unknownResource(of.uriTemplate);
  }

  return {
    async resources(session) {
      return (await listOf(session, 'resource')).map(viewResource);
    },
    async prompts(session) {
      return (await listOf(session, 'prompt')).map(viewPrompt);
    },
    async readResource(session, uri, options = {}) {
      const found = isUri(uri) ? findResource(await listOf(session, 'resource'), uri) : undefined;
      if (found === undefined) return { kind: 'refused', outcome: unknownResource(uri) };
      const { tool, read } = found;
      if (read?.kind === 'refused') {
        const problems = [`uri: ${read.problem}`];
        return { kind: 'refused', outcome: errorOutcome('ARGUMENTS_INVALID', { tool: tool.id, problems }) };
      }
      const answer = await call(session, tool.id, read === undefined ? {} : { uri: read.uri }, options);
      if (answer.kind !== 'settled' || answer.outcome.kind !== 'ok') return answer;
      const contents = answer.outcome.content.filter((block) => block.kind === 'resource');
      return { kind: 'read', callId: answer.callId, contents };
    },
    async getPrompt(session, name, args = {}, options = {}) {
      const found = await findPrompt(session, name);
      if ('kind' in found) return { kind: 'refused', outcome: found };
      const takes = found.tool.surface.arguments.length > 0 || Object.keys(args).length > 0;
      const answer = await call(session, found.tool.id, takes ? { arguments: args } : {}, options);
      if (answer.kind !== 'settled' || answer.outcome.kind !== 'ok') return answer;
      return { kind: 'rendered', callId: answer.callId, ...messagesOf(answer.outcome) };
    },
    async complete(session, { of, argument, value, known }, options = {}) {
      const found = await findCompleted(session, of);
      if ('kind' in found) return { kind: 'refused', outcome: found };
      if (found.tool.surface.completes !== true) return { kind: 'completed', values: [], hasMore: false };
      const complete = { argument, value, ...(known === undefined ? {} : { known: { ...known } }) };
      const answer = await call(session, found.tool.id, { complete }, options);
      if (answer.kind !== 'settled' || answer.outcome.kind !== 'ok') return answer;
      return { kind: 'completed', ...completionOf(answer.outcome.structured) };
    },
  };
}

type Found<Kind extends Surface['kind'] = Surface['kind']> = PublishedTool & {
  readonly tool: { readonly surface: Extract<Surface, { readonly kind: Kind }> };
};

interface FoundResource {
  readonly tool: Found<'resource'>['tool'];
  /** Absent for a resource with a fixed URI. */
  readonly read?: Exclude<ReadUri, { readonly kind: 'other' }>;
}

/** A resource with exactly this URI takes precedence over templates. If several templates match, the first in the order of ids wins. */
function findResource(resources: readonly Found<'resource'>[], uri: string): FoundResource | undefined {
  const asked = normaliseUri(uri);
  const own = resources.find(({ tool: { surface } }) => 'uri' in surface && normaliseUri(surface.uri) === asked);
  if (own !== undefined) return { tool: own.tool };
  for (const { tool } of resources) {
    const parsed = 'uriTemplate' in tool.surface ? parseUriTemplate(tool.surface.uriTemplate) : undefined;
    const read = parsed?.kind === 'template' ? parsed.template.read(uri) : undefined;
    if (read !== undefined && read.kind !== 'other') return { tool, read };
  }
  return undefined;
}

function addressOf(surface: ResourceSurface): string {
  return 'uri' in surface ? surface.uri : surface.uriTemplate;
}

function unknownResource(uri: string): Outcome {
  return errorOutcome('RESOURCE_UNKNOWN', { uri: String(uri).slice(0, MAX_SHOWN) });
}

function viewOf({ tool, module }: Found, { name, title, completes }: Surface): SurfaceView {
  const titled = title === undefined ? {} : { title };
  return {
    id: tool.id,
    module: module.id,
    name,
    ...titled,
    description: tool.description,
    completes: completes === true,
  };
}

function viewResource(found: Found<'resource'>): ResourceView {
  const { surface } = found.tool;
  const type = surface.mediaType === undefined ? {} : { mediaType: surface.mediaType };
  const view = { ...viewOf(found, surface), ...type };
  return 'uri' in surface ? { ...view, uri: surface.uri } : { ...view, uriTemplate: surface.uriTemplate };
}

function viewPrompt(found: Found<'prompt'>): PromptView {
  const surface: PromptSurface = found.tool.surface;
  return { ...viewOf(found, surface), arguments: surface.arguments };
}

/** Reads a rendered prompt. The worker sends the content blocks in order and, in `structured`, the role of each block at the same index. */
function messagesOf({ content, structured }: Outcome): { messages: ShownMessage[]; description?: string } {
  const { roles, description } = (isJsonObject(structured) ? structured : {}) as { [name: string]: JsonValue };
  const spoken = Array.isArray(roles) ? roles : [];
  const messages = content.map((block, at): ShownMessage => ({
    role: spoken[at] === 'assistant' ? 'assistant' : 'user',
    content: block,
  }));
  return { messages, ...(typeof description === 'string' ? { description } : {}) };
}

function completionOf(structured: JsonValue | undefined): Completion {
  const { completion } = (isJsonObject(structured) ? structured : {}) as { completion?: JsonObject };
  const { values, hasMore, total } = completion ?? {};
  return {
    values: Array.isArray(values) ? values.map(String) : [],
    hasMore: hasMore === true,
    ...(typeof total === 'number' ? { total } : {}),
  };
}
