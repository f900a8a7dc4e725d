import { defineModule, tool, type ToolContext } from 'sallyport/tool';
import { z } from 'zod';
import { createEffectLog, type EffectMark } from '../effect-log.ts';
import { digestOf, MODULE, TOOLS, type ToolName } from '../tools.ts';

const input = z.object({
  key: z.string(),
  ms: z.number(),
  fate: z.string().optional(),
  pad: z.string().optional(),
  hookMs: z.number().optional(),
});
type Input = z.infer<typeof input>;

// Opened by the first run, because a process that only describes the module has no such file.
let opened: ReturnType<typeof createEffectLog> | undefined;
const log: ReturnType<typeof createEffectLog> = (line) => {
  opened ??= createEffectLog(process.env['CHAOS_EFFECTS']!);
  opened(line);
};

function marker(name: ToolName, args: Input, ctx: ToolContext) {
  const argsDigest = digestOf(args);
  const { callId, fence, identity } = ctx;
  return (mark: EffectMark): void => log({ mark, callId, fence, tool: name, subject: identity.subject, argsDigest });
}

/** The answer names its call and subject, so that an answer that reaches the wrong caller is detected. */
function answer({ key }: Input, { callId, fence, identity }: ToolContext) {
  return { key, callId, fence, pid: process.pid, subject: identity.subject };
}

async function work(name: ToolName, args: Input, ctx: ToolContext) {
  const mark = marker(name, args, ctx);
  mark('S');
  if (args.ms > 0) await waitFor(args.ms, ctx.signal, () => mark('A'));
  mark('E');
  return answer(args, ctx);
}

function waitFor(ms: number, signal: AbortSignal, onAbort: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const stop = (): void => {
      clearTimeout(timer);
      onAbort();
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

const simple = (name: ToolName) => {
  const { effect, ...rest } = TOOLS[name];
  return tool({
    description: `Writes a line at its start and one at its end (${name}).`,
    input,
    effect,
    serial: 'serial' in rest,
    limits: { timeoutMs: 20_000 },
    run: (args, ctx) => work(name, args, ctx),
  });
};

// A module is what its file exports by default.
// oxlint-disable-next-line import/no-default-export
export default defineModule({
  id: MODULE,
  version: '1.0.0',
  description: 'Tools whose effects can be counted from outside.',
  tools: {
    read: simple('read'),
    put: simple('put'),
    send: simple('send'),
    line: simple('line'),
    turn: simple('turn'),
    slowRead: simple('slowRead'),
    slowSend: simple('slowSend'),
    asked: simple('asked'),
    gated: simple('gated'),
    gatedSend: simple('gatedSend'),
    leaf: simple('leaf'),
    nest: tool({
      description: 'Calls another tool.',
      input,
      effect: 'idempotent',
      limits: { timeoutMs: 20_000 },
      run: async (args, ctx) => {
        const mark = marker('nest', args, ctx);
        mark('S');
        const inner = await ctx.call(`${MODULE}.leaf`, { key: `${args.key}/leaf`, ms: args.ms }, { key: 'leaf' });
        mark('E');
        return { ...answer(args, ctx), leaf: inner.kind };
      },
    }),
    poison: tool({
      description: 'Kills its worker.',
      input,
      effect: 'read',
      run: (args, ctx) => {
        marker('poison', args, ctx)('S');
        process.kill(process.pid, 'SIGKILL');
        return new Promise(() => undefined);
      },
    }),
  },
});
