import { defineModule, tool } from 'sallyport/tool';
import { z } from 'zod';

/** Tools with answers that must not harm a terminal or the file system of the caller. */
// oxlint-disable-next-line import/no-default-export -- a module is what its file exports by default
export default defineModule({
  id: 'odd',
  version: '1.0.0',
  description: 'Odd answers.',
  tools: {
    text: tool({
      description: 'Answers with text that acts on terminals.',
      input: z.object({ times: z.number().default(1) }),
      effect: 'read',
      run: ({ times }) => 'red \u001b[31m clipboard \u001b]52;c;eA==\u0007 order \u202e end\n'.repeat(times),
    }),
    file: tool({
      description: 'Hands over a file under the name it is told.',
      input: z.object({ name: z.string() }),
      effect: 'read',
      run: ({ name }, ctx) => {
        ctx.sendFile({ name, mediaType: 'application/octet-stream', bytes: Buffer.from([0, 1, 2, 255]) });
        return { sent: true };
      },
    }),
  },
});
