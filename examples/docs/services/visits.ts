// #region use-own-service
import { defineModule } from 'sallyport/tool';
import { z } from 'zod';

interface Counters {
  add(step: { name: string; by?: number }): Promise<number>;
  all(): Promise<{ name: string; count: number }[]>;
}

declare module 'sallyport/tool' {
  interface Services {
    counters: Counters;
  }
}

export default defineModule({
  id: 'visits',
  version: '1.0.0',
  description: 'Counts visits.',
  needs: ['counters'],
  tools: (tool) => ({
    count: tool({
      description: 'Counts one visit of a page.',
      input: z.object({ page: z.string().min(1).max(64) }),
      output: z.object({ visits: z.int() }),
      run: async ({ page }, { services: { counters } }) => ({ visits: await counters.add({ name: page }) }),
    }),
  }),
});
// #endregion
