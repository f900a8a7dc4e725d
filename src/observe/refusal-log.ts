import type { Outcome } from '../domain/outcome/outcome.ts';
import type { Log } from '../domain/ports/log.ts';

export interface Refusal {
  readonly session: string;
  readonly tool: string;
  readonly outcome: Outcome;
}

export interface RefusalLog {
  note(refusal: Refusal): void;
  /** Logs how many refusals were not logged because of the rate limit. */
  close(): void;
}

export interface RefusalRate {
  /** Max lines of one code that may be logged at once. */
  readonly burst: number;
  /** After a burst, one line of that code may be logged in each such period. */
  readonly everyMs: number;
}

const DEFAULT_RATE: RefusalRate = { burst: 20, everyMs: 1000 };
/** Max length of a logged session or tool name. These names are the caller's own text. */
const MAX_LENGTH = 100;

interface Bucket {
  tokens: number;
  filledAt: number;
  suppressed: number;
}

/**
 * Logs requests that were refused before they were accepted. Such a request is not a call, so it is not in the audit. Each error code has a
 * rate limit, so that a flood of refusals does not flood the log. The number of refusals that were not logged is logged with the next line
 * of that code and at the end.
 */
export function createRefusalLog(
  log: Pick<Log, 'warn'>,
  { burst, everyMs }: RefusalRate = DEFAULT_RATE,
  now: () => number = () => performance.now(),
): RefusalLog {
  const buckets = new Map<string, Bucket>();

  function bucketOf(code: string): Bucket {
    let bucket = buckets.get(code);
    if (bucket === undefined) buckets.set(code, (bucket = { tokens: burst, filledAt: now(), suppressed: 0 }));
    const passed = Math.floor((now() - bucket.filledAt) / everyMs);
    bucket.filledAt += passed * everyMs;
    bucket.tokens = Math.min(burst, bucket.tokens + passed);
    return bucket;
  }

  return {
    note({ session, tool, outcome }) {
      const code = outcome.error?.code ?? outcome.kind;
      const bucket = bucketOf(code);
      if (bucket.tokens < 1) {
        bucket.suppressed += 1;
        return;
      }
      bucket.tokens -= 1;
      const more = bucket.suppressed === 0 ? {} : { suppressed: bucket.suppressed };
      bucket.suppressed = 0;
      const facts = {
        session: session.slice(0, MAX_LENGTH),
        tool: tool.slice(0, MAX_LENGTH),
        outcome: outcome.kind,
        code,
      };
      log.warn({ stage: 'accept', ...facts, ...more }, 'refused before it was accepted');
    },
    close() {
      for (const [code, { suppressed }] of buckets) {
        if (suppressed > 0) log.warn({ stage: 'accept', code, suppressed }, 'refused before they were accepted');
      }
      buckets.clear();
    },
  };
}
