import { errorText } from '../domain/error-text.ts';
import type { SignedHead } from '../domain/audit-record.ts';
import type { AuditTrail } from '../ports/audit-store.ts';
import type { Log } from '../ports/log.ts';
import { canonicalJson } from '../wire/canonical-json.ts';
import { retainTrail, type Retention } from './retain-trail.ts';
import { signHeads } from './sign-heads.ts';
import type { TrustedKeys } from './signing-keys.ts';
import type { StatementSigner } from './statement-signer.ts';

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

/**
 * Signs at the start what an earlier process left unsigned, then new heads at most every `signEveryMs`, and at the end. Deletes what is
 * too old or too much. Looks more often than it signs: what comes after a quiet time is signed soon.
 */
export function keepTrail(
  trail: AuditTrail,
  signer: StatementSigner,
  readKeys: () => TrustedKeys,
  now: () => Promise<number>,
  { signEveryMs, retention }: CareSettings,
  log: Log,
): TrailCare {
  const retains = retention.maxAgeMs !== undefined || retention.maxBytes !== undefined;
  let lastSigned: readonly SignedHead[] = [];
  let signedAt = Number.NEGATIVE_INFINITY;
  let retainedAt = Number.NEGATIVE_INFINITY;
  const problems = new Map<'signing' | 'retention', string>();

  async function round(isLast: boolean): Promise<void> {
    const isDue = (since: number): boolean => isLast || performance.now() - since >= signEveryMs;
    if (isDue(signedAt)) {
      await noting('signing', 'audit: heads not signed', async () => {
        const signed = await signHeads(trail, signer, await now(), lastSigned);
        if (canonicalJson(signed) !== canonicalJson(lastSigned)) signedAt = performance.now();
        lastSigned = signed;
      });
    }
    if (retains && isDue(retainedAt)) {
      retainedAt = performance.now();
      await noting('retention', 'audit: records not deleted', async () => {
        for (const { store, lane, sequence } of await retainTrail(trail, signer, readKeys, retention, await now())) {
          log.info({ store, lane, sequence }, 'audit: records up to here were deleted');
        }
      });
    }
  }

  /** A problem lasts until the same work has succeeded: signing says nothing about retention. */
  async function noting(work: 'signing' | 'retention', message: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
      problems.delete(work);
    } catch (error) {
      if (problems.get(work) !== errorText(error)) log.error({ error }, message);
      problems.set(work, errorText(error));
    }
  }

  let running: Promise<void> | undefined = round(false).finally(() => (running = undefined));
  const timer = setInterval(
    () => {
      running ??= round(false).finally(() => (running = undefined));
    },
    Math.min(signEveryMs, Math.max(MIN_LOOK_MS, signEveryMs / LOOKS_PER_PERIOD)),
  );
  return {
    get problem() {
      return problems.get('signing') ?? problems.get('retention');
    },
    async stop() {
      clearInterval(timer);
      await running;
      await round(true);
    },
  };
}

const MIN_LOOK_MS = 100;
const LOOKS_PER_PERIOD = 10;
