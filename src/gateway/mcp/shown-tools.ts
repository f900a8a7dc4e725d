import type { SessionToolkit } from '../../client/session-toolkits.ts';
import type { PublishedTool } from '../../domain/tool/catalog.ts';
import { splitToolId, type ToolId } from '../../domain/identity/ids.ts';
import { toMcp, type McpTool } from '../../modules/toolkit/mcp.ts';

/** One toolkit as MCP clients see it. */
export interface ShownTools {
  /** In the order of the tools' ids. */
  readonly list: readonly McpTool[];
  readonly find: (name: string) => ShownTool | undefined;
}

export interface ShownTool {
  readonly id: ToolId;
  readonly shown: McpTool;
}

/** Caches the MCP view of each toolkit. A toolkit stays the same object while nothing changes, so its schemas are copied only once. */
export function createShownTools(plainModule: string | undefined): (toolkit: SessionToolkit) => ShownTools {
  const shown = new WeakMap<SessionToolkit, ShownTools>();
  return (toolkit) => {
    let found = shown.get(toolkit);
    if (found === undefined) shown.set(toolkit, (found = show(toolkit.tools, plainModule)));
    return found;
  };
}

function show(tools: readonly PublishedTool[], plainModule: string | undefined): ShownTools {
  const taken = new Set(toMcp(tools).map(({ name }) => name));
  const byName = new Map<string, ShownTool>();
  const list = toMcp(tools).map((tool) => {
    const name = plainName(tool.title, plainModule, taken) ?? tool.name;
    const shown = { ...tool, name };
    byName.set(name, { id: tool.title as ToolId, shown });
    return shown;
  });
  return { list, find: (name) => byName.get(name) };
}

/** The tool's name without the module prefix, for the one module that is shown that way. Undefined if that name means another tool. */
function plainName(id: string, plainModule: string | undefined, taken: ReadonlySet<string>): string | undefined {
  const parts = splitToolId(id);
  if (parts === undefined || parts.module !== plainModule) return undefined;
  return taken.has(parts.tool) ? undefined : parts.tool;
}
