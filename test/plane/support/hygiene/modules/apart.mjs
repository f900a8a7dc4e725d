// Tools in processes of their own, most of which do not survive them. The soak writes the file again with another GENERATION.
import { spawn } from 'node:child_process';
import { defineModule, tool } from 'sallyport/tool';
import { z } from 'zod';

const GENERATION = 0;
const none = z.object({});

export default defineModule({
  id: 'apart',
  version: `1.0.${GENERATION}`,
  description: `Tools that misbehave, in generation ${GENERATION}.`,
  runner: 'process',
  tools: {
    kind: tool({ description: 'Behaves.', input: none, effect: 'read', run: () => ({ fine: true }) }),
    exits: tool({ description: 'Ends its process.', input: none, effect: 'read', run: () => process.exit(3) }),
    aborts: tool({ description: 'Crashes its process.', input: none, effect: 'read', run: () => process.abort() }),
    spins: tool({
      description: 'Never lets go.',
      input: none,
      effect: 'read',
      limits: { timeoutMs: 400 },
      run: () => {
        for (;;);
      },
    }),
    leaks: tool({
      description: 'Takes memory without end.',
      input: none,
      effect: 'read',
      run: () => {
        const kept = [];
        for (;;) kept.push(Array.from({ length: 10_000 }, () => Math.random()));
      },
    }),
    deaf: tool({
      description: 'Does not listen.',
      input: none,
      effect: 'read',
      limits: { timeoutMs: 300 },
      run: () => new Promise(() => setInterval(() => undefined, 1000)),
    }),
    spawns: tool({
      description: 'Leaves a process behind.',
      input: none,
      effect: 'read',
      run: () => {
        spawn('sleep', ['600'], { stdio: 'ignore' }).unref();
        return 'started';
      },
    }),
  },
});
