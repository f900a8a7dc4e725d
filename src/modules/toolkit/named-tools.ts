import type { PublishedTool } from '../../domain/tool/catalog.ts';
import type { ToolId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { toolName } from './tool-name.ts';

/** The schema form that every provider requires for a tool's input. The catalog publishes no other form. */
export interface ObjectSchema extends JsonObject {
  type: 'object';
}

export interface NamedTool {
  readonly name: string;
  readonly tool: ToolDeclaration;
  /**
   * A copy: the catalog's own schema is shared, and some SDKs modify the schemas they get. The order of its keys is kept, because models
   * fill in arguments in the order of `properties`.
   */
  readonly inputSchema: ObjectSchema;
}

/** Names the tools and sorts them by id, so that the same toolkit always gives the same text and providers' prompt caches keep hitting. */
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

/** Maps a name that a model used back to a tool. */
export interface ToolNames {
  /** Undefined for a name that is not in the toolkit: models invent names, and no match is guessed. */
  readonly toolIdOf: (name: string) => ToolId | undefined;
}

export function toolNames(tools: readonly PublishedTool[]): ToolNames {
  const names = idsByName(tools);
  return { toolIdOf: (name) => names.get(name) };
}

/**
 * Maps names to ids. Different ids always have different names, so a duplicate name means that the toolkit contains a tool twice. Then it
 * throws, because a provider would refuse the whole request.
 */
function idsByName(tools: readonly PublishedTool[]): Map<string, ToolId> {
  const names = new Map<string, ToolId>();
  for (const { tool } of tools) {
    const name = toolName(tool.id);
    if (names.has(name)) throw new Error(`The toolkit has "${tool.id}" twice, as "${name}".`);
    names.set(name, tool.id);
  }
  return names;
}
