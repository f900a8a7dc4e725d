import { defineModule, tool } from 'sallyport/tool';
import { z } from 'zod';

export default defineModule({
  id: 'dice',
  version: '1.0.0',
  description: 'Rolls dice.',
  tools: {
    roll: tool({
      description: 'Rolls one die and gives the number it shows.',
      effect: 'read',
      input: z.object({ sides: z.int().min(2).max(1000).default(6) }),
      run: ({ sides }) => ({ rolled: 1 + Math.floor(Math.random() * sides) }),
    }),
  },
});
