import { appendFileSync } from 'node:fs';
import { defineModule, tool, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';

/** Records what really ran, in a file in the folder of the plane. */
function note(name, args) {
  appendFileSync('ran.log', `${JSON.stringify({ tool: name, args })}\n`);
}

/** Tools of a service desk: some need an approval, some give unusual answers. */
// oxlint-disable-next-line import/no-default-export -- a module is what its file exports by default
export default defineModule({
  id: 'desk',
  version: '1.0.0',
  description: 'A service desk.',
  tools: {
    mail: tool({
      description: 'Sends a mail.',
      input: z.object({ to: z.string(), subject: z.string(), body: z.string().default('') }),
      effect: 'unsafe',
      run: (args) => {
        note('mail', args);
        return { sent: true, to: args.to };
      },
    }),
    refund: tool({
      description: 'Pays money back.',
      input: z.object({ payment: z.string(), amount: z.number(), currency: z.string() }),
      effect: 'unsafe',
      run: (args) => {
        note('refund', args);
        return { refunded: args.amount };
      },
    }),
    deploy: tool({
      description: 'Runs a list of steps.',
      input: z.object({ steps: z.array(z.string()) }),
      effect: 'unsafe',
      run: (args) => {
        note('deploy', args);
        return { steps: args.steps.length };
      },
    }),
    ring: tool({
      description: 'Rings a bell; must be answered at once.',
      input: z.object({ at: z.string() }),
      effect: 'unsafe',
      run: (args) => note('ring', args),
    }),
    hang: tool({
      description: 'Starts something and never ends.',
      input: z.object({}),
      effect: 'unsafe',
      run: () => {
        note('hang', {});
        return new Promise(() => {});
      },
    }),
    lookup: tool({
      description: 'Finds a customer.',
      input: z.object({ text: z.string() }),
      effect: 'read',
      run: ({ text }) => text,
    }),
    fails: tool({
      description: 'Fails with the words it is given.',
      input: z.object({ text: z.string() }),
      effect: 'read',
      run: ({ text }) => {
        throw new ToolFailure(text);
      },
    }),
    attach: tool({
      description: 'Hands over a file under the name it is told.',
      input: z.object({ name: z.string() }),
      effect: 'read',
      run: ({ name }, ctx) => {
        ctx.sendFile({ name, mediaType: 'text/html', bytes: Buffer.from('<script>alert(1)</script>') });
        return 'There is a file.';
      },
    }),
    wait: tool({
      description: 'Waits until it is told to stop.',
      input: z.object({}),
      effect: 'read',
      run: (_, ctx) =>
        new Promise((_resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
        }),
    }),
  },
});
