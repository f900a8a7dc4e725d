// Tools in the worker's own process. The soak writes the file again with another GENERATION.
import { defineModule, denied, tool, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';

const GENERATION = 0;
const none = z.object({});

function waitFor(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export default defineModule({
  id: 'near',
  version: `1.0.${GENERATION}`,
  description: 'Tools of the soak.',
  tools: {
    echo: tool({
      description: `Answers with what it was given, in generation ${GENERATION}.`,
      input: z.object({ text: z.string() }),
      output: z.object({ text: z.string() }),
      effect: 'read',
      run: ({ text }) => ({ text }),
    }),
    write: tool({
      description: 'Starts once.',
      input: z.object({ at: z.number() }),
      effect: 'unsafe',
      run: () => 'ok',
    }),
    queue: tool({
      description: 'One by one.',
      input: z.object({ at: z.number() }),
      effect: 'unsafe',
      serial: true,
      run: () => 'ok',
    }),
    fails: tool({
      description: 'Fails, denies or throws.',
      input: z.object({ how: z.enum(['failure', 'denied', 'throw']) }),
      effect: 'read',
      run: ({ how }) => {
        if (how === 'failure') throw new ToolFailure('The mailbox is full.');
        if (how === 'denied') return denied('Not on Sundays.');
        throw new TypeError('detail');
      },
    }),
    wait: tool({
      description: 'Waits.',
      input: z.object({ ms: z.number() }),
      effect: 'read',
      run: async ({ ms }, ctx) => {
        ctx.progress({ done: 0, total: 1 });
        await waitFor(ms, ctx.signal);
        return { done: true };
      },
    }),
    late: tool({
      description: 'Takes longer than it may.',
      input: none,
      effect: 'read',
      limits: { timeoutMs: 300 },
      run: async (_, ctx) => waitFor(30_000, ctx.signal),
    }),
    large: tool({
      description: 'Answers with a long text.',
      input: z.object({ characters: z.number() }),
      effect: 'read',
      limits: { maxResultBytes: 1024 * 1024 },
      run: ({ characters }) => 'x'.repeat(characters),
    }),
    handOver: tool({
      description: 'Hands over a file and a tool.',
      input: none,
      effect: 'read',
      run: (_, ctx) => {
        ctx.sendFile({ name: 'data.bin', mediaType: 'application/octet-stream', bytes: Buffer.alloc(20_000) });
        ctx.offerTool({ tool: 'near.echo', description: 'Ask me again' });
        return 'there it is';
      },
    }),
    nest: tool({
      description: 'Calls another tool.',
      input: z.object({ tool: z.string(), args: z.record(z.string(), z.any()) }),
      effect: 'unsafe',
      run: async ({ tool: name, args }, ctx) => ({ inner: (await ctx.call(name, args)).kind }),
    }),
    asks: tool({
      description: 'A person is asked first.',
      input: z.object({ fate: z.string() }),
      effect: 'unsafe',
      run: () => 'done',
    }),
  },
});
