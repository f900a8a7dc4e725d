import type { ListToolsResult } from '@modelcontextprotocol/server';
import { invalidParams } from './protocol-problem.ts';
import type { McpCaller, McpHome } from './mcp-home.ts';

const PAGE = 500;
/** As long as a name is looked up in what was shown; a change is also told to whoever listens. */
const TTL_MS = 2000;

/** What the bearer's agent may call: that, all of that, in one order. */
export async function listTools(
  home: McpHome,
  caller: McpCaller,
  cursor: string | undefined,
): Promise<ListToolsResult> {
  const { list } = await home.toolsOf(caller);
  const after = cursor === undefined ? '' : readCursor(cursor);
  const rest = after === '' ? list : list.filter(({ title }) => title > after);
  const page = rest.slice(0, PAGE);
  const last = page.at(-1);
  return {
    tools: page as unknown as ListToolsResult['tools'],
    ...(last === undefined || rest.length <= PAGE ? {} : { nextCursor: writeCursor(last.title) }),
    ttlMs: TTL_MS,
    cacheScope: 'private',
  } as ListToolsResult;
}

/** After which tool it goes on: it holds however the list has changed since. */
function writeCursor(id: string): string {
  return Buffer.from(`tools ${id}`).toString('base64url');
}

function readCursor(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, id] = /^tools ([\w.-]{1,130})$/.exec(text) ?? [];
  if (id === undefined) throw invalidParams('cursor: it is none that was given here');
  return id;
}
