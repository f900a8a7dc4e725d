// #region module
import { defineModule, secret } from 'sallyport/tool';
import { z } from 'zod';

export default defineModule({
  id: 'tickets',
  version: '1.0.0',
  description: 'Tickets of the help desk.',
  setup: z.object({ server: z.url().default('https://desk.example.com'), key: z.string().default('') }),
  tools: (tool) => ({
    close: tool({
      description: 'Closes a ticket.',
      effect: 'idempotent',
      secrets: ['own:DESK_*'],
      input: z.object({ ticket: z.int(), pin: secret(z.string()).optional() }),
      async run({ ticket, pin }, { setup, signal }) {
        const response = await fetch(`${setup.server}/tickets/${ticket}/close`, {
          method: 'PUT',
          headers: { authorization: `Bearer ${setup.key}`, 'x-pin': pin ?? '' },
          signal,
        });
        return { closed: response.ok };
      },
    }),
    // #endregion
    // #region ask
    sign: tool({
      description: 'Signs a text for the help desk.',
      effect: 'read',
      secrets: ['DESK_SIGNING_KEY'],
      input: z.object({ text: z.string() }),
      async run({ text }, ctx) {
        const key = await ctx.secrets.get('DESK_SIGNING_KEY');
        return { signature: await sign(text, key) };
      },
    }),
    // #endregion
  }),
});

async function sign(text: string, key: string): Promise<string> {
  const { createHmac } = await import('node:crypto');
  return createHmac('sha256', key).update(text).digest('hex');
}
