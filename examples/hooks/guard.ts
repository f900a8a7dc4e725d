import { defineHooks } from 'sallyport/gate';

/** Folders into which no tool may write. */
const CLOSED = ['.git', '.ssh', 'node_modules'];

/** Hooks for the example modules `files`, `web` and `shell`. */
export default defineHooks({
  id: 'guard',
  hooks: [
    {
      id: 'closed-folders',
      on: 'before_tool_call',
      tools: ['files.write'],
      priority: 10,
      run({ arguments: { path } }) {
        const folder = (path as string).split(/[/\\]/).find((name) => CLOSED.includes(name));
        return folder === undefined ? undefined : { block: true, reason: `Nothing is written into ${folder}.` };
      },
    },
    {
      id: 'no-credentials',
      on: 'before_tool_call',
      tools: ['web.fetch'],
      run({ arguments: { url } }) {
        const address = URL.parse(url as string);
        if (address === null || (address.username === '' && address.password === '')) return undefined;
        address.username = '';
        address.password = '';
        return { patch: { url: address.href } };
      },
    },
    {
      id: 'deleting-commands',
      on: 'before_tool_call',
      tools: ['shell.run'],
      run({ arguments: { command } }) {
        const [program] = command as string[];
        if (program !== 'rm' && program !== 'mv') return undefined;
        return {
          requireApproval: {
            title: `${program} on the worker's machine`,
            reason: `${program} can destroy files.`,
            severity: 'critical',
            decisions: ['allow-once', 'deny'],
          },
        };
      },
    },
    {
      id: 'failures',
      on: 'after_tool_call',
      run({ tool, callId, outcome, durationMs }) {
        if (outcome.kind === 'ok') return;
        console.error(`${tool} ended ${outcome.kind} after ${durationMs} ms (${callId})`);
      },
    },
  ],
});
