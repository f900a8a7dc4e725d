import { defineModule, tool } from 'sallyport/tool';
import { z } from 'zod';

export default defineModule({
  id: 'announcements',
  version: '1.0.0',
  description: 'Tells the channel what was found.',
  tools: {
    publish: tool({
      description: 'Sends an announcement to the channel of this conversation.',
      effect: 'idempotent',
      input: z.object({ text: z.string().min(1).max(2000) }),
      async run({ text }, { platform }) {
        const { state, messageId } = await platform.send(text);
        if (messageId !== undefined) await platform.react(messageId, '📣');
        return { state };
      },
    }),
    members: tool({
      description: 'Lists who is in the channel of this conversation.',
      effect: 'read',
      input: z.object({}),
      run: async (_args, { platform }) => ({ members: await platform.call('members.list', { limit: 100 }) }),
    }),
  },
});
