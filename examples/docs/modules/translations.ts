import { defineModule, tool, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';

const PRICE_PER_CHARACTER = 0.00002;
// #region jobs
const jobs = new Map<string, { readonly characters: number; readonly startedAt: number }>();
// #endregion

export default defineModule({
  id: 'translations',
  version: '1.0.0',
  description: 'Translates texts, which takes a while.',
  tools: {
    // #region cost
    start: tool({
      description: 'Starts a translation and gives its id.',
      cost: 0.02,
      input: z.object({ text: z.string().min(1).max(1_000_000) }),
      run({ text }, ctx) {
        ctx.cost(text.length * PRICE_PER_CHARACTER);
        const id = crypto.randomUUID();
        jobs.set(id, { characters: text.length, startedAt: Date.now() });
        return { id };
      },
    }),
    // #endregion

    // #region poll
    status: tool({
      description: 'Says how far a translation is. Ask every 5 seconds, not faster.',
      effect: 'read',
      poll: { everyMs: 5000 },
      progress: ['/done', '/state'],
      input: z.object({ id: z.string() }),
      run({ id }) {
        const job = jobs.get(id);
        if (job === undefined)
          throw new ToolFailure('There is no such translation.', { code: 'TRANSLATION_NOT_FOUND' });
        const done = Math.min(job.characters, Math.floor((Date.now() - job.startedAt) / 10));
        return { done, state: done < job.characters ? 'running' : 'ready', checkedAt: new Date().toISOString() };
      },
    }),
    // #endregion

    // #region send
    send: tool({
      description: 'Sends a message to the translators.',
      progress: [],
      input: z.object({ text: z.string() }),
      run: () => ({ messageId: crypto.randomUUID(), receipt: Date.now() }),
    }),
    // #endregion
  },
});
