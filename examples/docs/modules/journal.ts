import { defineModule } from 'sallyport/tool';
import { z } from 'zod';

export default defineModule({
  id: 'journal',
  version: '1.0.0',
  description: 'What was said in this channel.',
  needs: ['conversations'],
  tools: (tool) => ({
    find: tool({
      description: 'Finds what was said about something.',
      effect: 'read',
      input: z.object({ about: z.string().min(1).max(200) }),
      run: async ({ about }, { services: { conversations } }) => ({
        messages: await conversations.search({ text: about, limit: 5 }),
      }),
    }),
  }),
});
