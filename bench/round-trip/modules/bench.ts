import { defineModule, tool } from 'sallyport/tool';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { answerRequest } from '../variant.ts';

const input = z.object({ id: z.number(), text: z.string() });
const description = 'Answers with the beginning of the text it got.';

/** Answers after a pause, like a tool that waits for another service. */
async function answerLater(request: z.infer<typeof input>) {
  await pause(20);
  return answerRequest(request);
}

// A module is what its file exports by default.
// oxlint-disable-next-line import/no-default-export
export default defineModule({
  id: 'bench',
  version: '1.0.0',
  description: 'Tools that do nothing, so that what is measured is the way to them.',
  tools: {
    read: tool({ description, input, effect: 'read', run: answerRequest }),
    unsafe: tool({ description, input, effect: 'unsafe', run: answerRequest }),
    wait: tool({ description: `${description} 20 ms later.`, input, effect: 'read', run: answerLater }),
  },
});
