import { defineModule, tool } from 'sallyport/tool';
import { z } from 'zod';

export default defineModule({
  id: 'deploys',
  version: '1.0.0',
  description: 'Deploys releases.',
  tools: {
    // #region normalises
    start: tool({
      description: 'Deploys a release to an environment: dev, stage or prod.',
      normalises: true,
      input: z.object({ environment: z.string().trim().toLowerCase(), release: z.string() }),
      run: ({ environment, release }) => ({ deployed: `${release} to ${environment}` }),
    }),
    // #endregion normalises
  },
});
