import { setTimeout as pause } from 'node:timers/promises';
import { defineModule, tool, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';
import { timeIn } from './time-in.ts';

const PROGRESS_EVERY_MS = 1000;

export default defineModule({
  id: 'clock',
  version: '1.0.0',
  description: 'The current time in any time zone, and waiting.',
  tools: {
    now: tool({
      description: 'Tells the current date and time. Use it whenever an answer depends on today or now.',
      effect: 'read',
      input: z.object({
        timeZone: z.string().max(64).default('UTC').describe('IANA name, for example Europe/Paris'),
      }),
      output: z.object({
        utc: z.string(),
        local: z.string().describe('In the time zone asked for, with its offset from UTC'),
        weekday: z.string(),
        timeZone: z.string(),
        unixMs: z.int(),
      }),
      run: ({ timeZone }) => {
        const time = timeIn(timeZone, new Date());
        if (time === undefined) {
          throw new ToolFailure(`"${timeZone}" is not a time zone. Use an IANA name such as America/New_York or UTC.`, {
            code: 'TIME_ZONE_UNKNOWN',
          });
        }
        return time;
      },
    }),

    sleep: tool({
      description:
        'Waits for the given time, at most 60 seconds, and reports progress each second. Can be cancelled. Use it to wait before you look again at something slow.',
      effect: 'read',
      limits: { timeoutMs: 65_000 },
      input: z.object({ ms: z.int().min(0).max(60_000).describe('Milliseconds to wait') }),
      output: z.object({ sleptMs: z.int() }),
      async run({ ms }, ctx) {
        let sleptMs = 0;
        while (sleptMs < ms) {
          ctx.progress({ done: sleptMs, total: ms });
          const stepMs = Math.min(PROGRESS_EVERY_MS, ms - sleptMs);
          // With the signal, a cancelled call ends at once instead of at the end of its wait.
          await pause(stepMs, undefined, { signal: ctx.signal });
          sleptMs += stepMs;
        }
        ctx.progress({ done: ms, total: ms });
        return { sleptMs };
      },
    }),
  },
});
