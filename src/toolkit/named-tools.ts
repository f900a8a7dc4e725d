import type { PublishedTool } from '../domain/catalog.ts';
import type { ToolId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ToolDeclaration } from '../domain/tool.ts';
import { toolName } from './tool-name.ts';

/** What every provider asks of a tool's input. The catalog publishes no other. */
export interface ObjectSchema extends JsonObject {
  type: 'object';
}

export interface NamedTool {
  readonly name: string;
  readonly tool: ToolDeclaration;
  /**
   * A copy: the catalog's own is shared, and some SDKs write into the schemas they are given. Its keys stay in their order, since
   * models fill in arguments in the order of `properties`.
   */
  readonly inputSchema: ObjectSchema;
}

/** In the order of the ids, so that one toolkit has one text and providers' prompt caches keep hitting. */
export function nameTools(tools: readonly PublishedTool[]): NamedTool[] {
  const names = idsByName(tools);
  const byId = new Map(tools.map(({ tool }) => [tool.id, tool]));
  return [...names]
    .sort(([, a], [, b]) => (a < b ? -1 : 1))
    .map(([name, id]) => {
      const tool = byId.get(id)!;
      return { name, tool, inputSchema: structuredClone(tool.inputSchema) as ObjectSchema };
    });
}

/** From what a model said back to a tool. */
export interface ToolNames {
  /** Undefined for a name that is not in the toolkit: models invent names, and nothing is guessed from one. */
  readonly toolIdOf: (name: string) => ToolId | undefined;
}

export function toolNames(tools: readonly PublishedTool[]): ToolNames {
  const names = idsByName(tools);
  return { toolIdOf: (name) => names.get(name) };
}

/** Names tell all ids apart, so this can only meet one tool twice. It must not pass: a provider refuses the whole request. */
function idsByName(tools: readonly PublishedTool[]): Map<string, ToolId> {
  const names = new Map<string, ToolId>();
  for (const { tool } of tools) {
    const name = toolName(tool.id);
    if (names.has(name)) throw new Error(`The toolkit has "${tool.id}" twice, as "${name}".`);
    names.set(name, tool.id);
  }
  return names;
}
