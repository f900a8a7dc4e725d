import type { JsonObject } from '../../base/json.ts';
import { surfaceToolName } from '../../domain/tool/surface.ts';
import { parseUriTemplate } from '../../base/uri-template.ts';
import { embedded, isToolContent, structured, text, type ToolContent } from './content-blocks.ts';
import type { ModuleDefinition, ToolDefinition } from './define-module.ts';
import type {
  AskedCompletion,
  GivenCompletion,
  PromptDefinition,
  PromptMessage,
  ResourceContent,
  ResourceDefinition,
} from './define-surfaces.ts';
import { parseWith, type SchemaResult, type StandardSchema } from './standard-schema.ts';
import { ToolFailure } from './tool-failure.ts';
import type { ToolContext } from './tool-context.ts';

type Context = ToolContext<unknown>;

const MAX_COMPLETIONS = 100;

/**
 * Finds a resource or prompt by the name of its entry, such as `resource--logo`, and returns it as a tool. Undefined: the module has no
 * such entry.
 */
export function findSurfaceTool(module: ModuleDefinition, name: string): ToolDefinition | undefined {
  const resource = module.resources?.find((one) => surfaceToolName('resource', one.name) === name);
  if (resource !== undefined) return resourceTool(resource);
  const prompt = module.prompts?.find((one) => surfaceToolName('prompt', one.name) === name);
  return prompt === undefined ? undefined : promptTool(prompt);
}

interface Asked {
  readonly uri?: string;
  readonly arguments?: unknown;
  readonly complete?: { readonly argument: string; readonly value: string; readonly known?: Record<string, string> };
}

function resourceTool(definition: ResourceDefinition): ToolDefinition {
  return {
    description: '',
    input: {},
    async run({ uri, complete }: Asked, ctx: Context) {
      if (complete !== undefined) return answerCompletion(definition, complete, ctx);
      const found = locate(definition, uri);
      const content = found === undefined ? undefined : await definition.read(found.params, ctx, found.uri);
      if (found === undefined || content === undefined)
        throw new ToolFailure('There is no such resource.', { code: 'RESOURCE_NOT_FOUND' });
      return readContents(content, found.uri, definition.mediaType);
    },
  };
}

/**
 * The URI and the variables of the resource to read. The URI is matched against the template again here, even if the caller's process has
 * already done so.
 */
function locate(definition: ResourceDefinition, asked: string | undefined): Located | undefined {
  if (definition.uri !== undefined) return { uri: definition.uri, params: {} };
  const parsed = parseUriTemplate(definition.uriTemplate);
  const read = parsed.kind === 'template' ? parsed.template.read(asked ?? '') : undefined;
  return read?.kind === 'read' ? { uri: read.uri, params: read.values } : undefined;
}

interface Located {
  readonly uri: string;
  readonly params: Readonly<Record<string, string>>;
}

function readContents(given: unknown, uri: string, mediaType: string | undefined): ToolContent[] {
  const contents = (Array.isArray(given) ? given : [given]) as (string | Uint8Array | ResourceContent)[];
  return contents.map((content) => {
    if (typeof content === 'string' || content instanceof Uint8Array) return embedded(uri, content, mediaType);
    const body = 'text' in content ? content.text : content.bytes;
    return embedded(content.uri ?? uri, body, content.mediaType ?? mediaType);
  });
}

function promptTool(definition: PromptDefinition): ToolDefinition {
  return {
    description: '',
    input: promptInput(definition),
    async run({ arguments: args, complete }: Asked, ctx: Context) {
      if (complete !== undefined) return answerCompletion(definition, complete, ctx);
      return showMessages(await definition.render(args ?? {}, ctx));
    },
  };
}

/** The input schema of a prompt. It parses what is under `arguments` with the tool author's own schema. */
function promptInput(definition: PromptDefinition): StandardSchema | JsonObject {
  const validate = async (value: unknown): Promise<SchemaResult<unknown>> => {
    const { arguments: given, complete } = value as Asked;
    if (complete !== undefined) return { value };
    if (given === undefined && definition.arguments === undefined) return { value };
    const parsed = await parseWith(definition.arguments, given ?? {});
    if (parsed.kind === 'parsed') return { value: { arguments: parsed.value } };
    return { issues: parsed.problems.map((message) => ({ message })) };
  };
  return { '~standard': { version: 1, vendor: 'sallyport', validate } };
}

/** The blocks of all messages in their order, and one structured block with the role of each message. */
function showMessages(rendered: unknown): ToolContent[] {
  if (typeof rendered === 'string') return showMessages([{ role: 'user', content: rendered }]);
  const isList = Array.isArray(rendered);
  const { messages, description } = (isList ? { messages: rendered } : rendered) as {
    messages: readonly PromptMessage[];
    description?: string;
  };
  if (!Array.isArray(messages)) throw new TypeError('render must return messages');
  const blocks = messages.map(({ content }: PromptMessage) => {
    if (typeof content === 'string') return text(content);
    if (!isToolContent(content) || content.kind === 'structured')
      throw new TypeError(
        'the content of a message is a text, or made by text(), image(), audio(), file() or embedded()',
      );
    return content;
  });
  const roles = messages.map(({ role }: PromptMessage) => (role === 'assistant' ? 'assistant' : 'user'));
  return [...blocks, structured({ roles, ...(typeof description === 'string' ? { description } : {}) })];
}

async function answerCompletion(
  { complete }: Pick<ResourceDefinition | PromptDefinition, 'complete'>,
  { argument, value, known = {} }: NonNullable<Asked['complete']>,
  ctx: Context,
): Promise<ToolContent> {
  const asked: AskedCompletion = { argument, value, known };
  const given = ((await complete?.(asked, ctx)) ?? []) as GivenCompletion;
  const list = isList(given) ? { values: given } : given;
  const values = list.values.slice(0, MAX_COMPLETIONS).map(String);
  const hasMore = list.hasMore === true || list.values.length > values.length;
  return structured({ completion: { values, hasMore, ...(list.total === undefined ? {} : { total: list.total }) } });
}

function isList(given: GivenCompletion): given is readonly string[] {
  return Array.isArray(given);
}
