import type { ListToolsResult } from '@modelcontextprotocol/server';
import type { McpCaller, McpHome } from './mcp-home.ts';
import { pageOf } from './pages.ts';

/** Lists exactly the tools that the bearer's agent may call, always in the same order, one page at a time. */
export async function listTools(
  home: McpHome,
  caller: McpCaller,
  cursor: string | undefined,
): Promise<ListToolsResult> {
  const { list } = await home.toolsOf(caller);
  const { items, more } = pageOf(list, ({ title }) => title, cursor);
  return { tools: items, ...more } as unknown as ListToolsResult;
}
