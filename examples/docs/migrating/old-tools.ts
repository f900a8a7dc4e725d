// #region module
import { spawn } from 'node:child_process';
import { text as readText } from 'node:stream/consumers';
import { defineModule, ToolFailure, type ToolContext } from 'sallyport/tool';
import { z } from 'zod';

export default defineModule({
  id: 'wiki',
  version: '1.0.0',
  description: 'Searches and edits the wiki.',
  setup: z.object({ command: z.array(z.string()).min(1) }),
  tools: (tool) => ({
    search: tool({
      description: 'Finds pages of the wiki.',
      effect: 'read',
      input: z.object({ query: z.string().min(1) }),
      run: (args, ctx) => runOld('wiki_search', args, ctx),
    }),
    edit: tool({
      description: 'Replaces the text of a page.',
      effect: 'unsafe',
      input: z.object({ page: z.string(), text: z.string() }),
      run: (args, ctx) => runOld('wiki_edit', args, ctx),
    }),
  }),
});
// #endregion

// #region run
interface Setup {
  readonly command: readonly string[];
}

async function runOld(tool: string, args: object, ctx: ToolContext<Setup>): Promise<string> {
  const [program = '', ...rest] = ctx.setup.command;
  const { subject: user_id, channel: channel_id } = ctx.identity;
  const child = spawn(program, rest, { signal: ctx.signal, stdio: ['pipe', 'pipe', 'inherit'] });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  child.stdin.on('error', () => undefined);
  child.stdin.end(JSON.stringify({ tool, arguments: args, context: { user_id, channel_id } }));
  const answer = JSON.parse(await Promise.race([readText(child.stdout), failed])) as {
    result?: string;
    error?: string;
  };
  if (answer.error !== undefined) throw new ToolFailure(answer.error, { code: 'OLD_TOOL_FAILED' });
  return answer.result ?? '';
}
// #endregion
