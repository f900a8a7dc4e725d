import { errorText } from '../domain/error-text.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import type { Log } from '../ports/log.ts';
import { retainTrail, type Retention } from './retain-trail.ts';
import { signHeads } from './sign-statement.ts';
import type { SigningKey } from './signing-keys.ts';

export interface TrailCare {
  /** Why the last head could not be signed, or records not deleted. */
  readonly problem: string | undefined;
  /** Signs what there is now, for the last time. */
  stop(): Promise<void>;
}

export interface CareSettings {
  readonly signEveryMs: number;
  readonly retention: Retention;
}

/** Signs heads from time to time and at the end, and deletes what is too old or too much. */
export function keepTrail(
  trail: AuditTrail,
  key: () => SigningKey,
  now: () => Promise<number>,
  { signEveryMs, retention }: CareSettings,
  log: Log,
): TrailCare {
  let last: string | undefined;
  let problem: string | undefined;
  let running: Promise<void> | undefined;

  async function round(): Promise<void> {
    try {
      const at = await now();
      last = await signHeads(trail, key(), at, last);
      if (retention.maxAgeMs !== undefined || retention.maxBytes !== undefined) {
        for (const { store, lane, sequence } of await retainTrail(trail, key(), retention, at)) {
          log.info({ store, lane, sequence }, 'audit: records up to here were deleted');
        }
      }
      problem = undefined;
    } catch (error) {
      if (problem !== errorText(error)) log.error({ error }, 'audit: heads not signed');
      problem = errorText(error);
    }
  }

  const timer = setInterval(() => {
    running ??= round().finally(() => (running = undefined));
  }, signEveryMs);
  return {
    get problem() {
      return problem;
    },
    async stop() {
      clearInterval(timer);
      await running;
      await round();
    },
  };
}
