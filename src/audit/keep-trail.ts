import { errorText } from '../domain/errors/errors.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import type { Log } from '../domain/ports/log.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { followStatements } from './follow-statements.ts';
import { retainTrail, type Retention } from './retain-trail.ts';
import { signHeads, type LastSigned } from './sign-heads.ts';
import type { TrustedKeys } from './signing-keys.ts';
import type { StatementSigner } from './statement-signer.ts';

export interface TrailCare {
  /** Why the last heads could not be signed, or records could not be deleted. */
  readonly problem: string | undefined;
  /** Why nothing more is deleted until an operator trusts another key. It is not a problem of the trail itself. */
  readonly warning: string | undefined;
  /** Aborts a deletion that is under way, then signs the current heads for the last time. */
  stop(): Promise<void>;
}

export interface CareSettings {
  readonly signEveryMs: number;
  readonly retention: Retention;
}

/**
 * Signs at the start what an earlier process left unsigned, then new heads at most every `signEveryMs`, and again at the end. Deletes
 * records that exceed the limits of age and size. Deleting runs in parallel with signing, because a walk over a large lane must not delay a
 * signature. Looks for new heads more often than it signs, so that records after a quiet time are signed soon.
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
  const statements = followStatements(trail, readKeys);
  const ending = new AbortController();
  let lastSigned: LastSigned | undefined;
  let signedAt = Number.NEGATIVE_INFINITY;
  let warning: string | undefined;
  const problems = new Map<'signing' | 'retention', string>();

  async function sign(isLast: boolean): Promise<void> {
    if (!isLast && performance.now() - signedAt < signEveryMs) return;
    await noting('signing', 'audit: heads not signed', async () => {
      const before = lastSigned?.heads ?? [];
      lastSigned = await signHeads(trail, signer, await now(), lastSigned, readKeys);
      if (canonicalJson(lastSigned.heads) !== canonicalJson(before)) signedAt = performance.now();
    });
  }

  async function retain(): Promise<void> {
    await noting('retention', 'audit: records not deleted', async () => {
      const needs = { trail, signer, statements, signal: ending.signal };
      const { cuts, unknownKey } = await retainTrail(needs, retention, await now());
      for (const { store, lane, sequence } of cuts) {
        log.info({ store, lane, sequence }, 'audit: records up to here were deleted');
      }
      if (unknownKey !== undefined && unknownKey !== warning)
        log.warn({ reason: unknownKey }, 'audit: nothing is deleted until that key is in audit.trustedKeys');
      warning = unknownKey;
    });
  }

  /**
   * Runs one kind of work and records its problem. Only a later success of the same kind clears the problem: successful signing does not
   * clear a problem of retention.
   */
  async function noting(work: 'signing' | 'retention', message: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
      problems.delete(work);
    } catch (error) {
      if (work === 'retention' && ending.signal.aborted) return;
      if (problems.get(work) !== errorText(error)) log.error({ error }, message);
      problems.set(work, errorText(error));
    }
  }

  const lookMs = Math.min(signEveryMs, Math.max(MIN_LOOK_MS, signEveryMs / CHECKS_PER_PERIOD));
  const signing = repeat(() => sign(false), lookMs);
  const retaining = retains ? repeat(retain, signEveryMs) : undefined;
  return {
    get problem() {
      return problems.get('signing') ?? problems.get('retention');
    },
    get warning() {
      return warning;
    },
    async stop() {
      ending.abort();
      await Promise.all([signing.stop(), retaining?.stop()]);
      await sign(true);
    },
  };
}

/** Runs the work at once and then every `everyMs`, never twice at the same time. */
function repeat(work: () => Promise<void>, everyMs: number): { stop(): Promise<void> } {
  let running: Promise<void> | undefined;
  const run = (): void => {
    running ??= work().finally(() => (running = undefined));
  };
  run();
  const timer = setInterval(run, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

const MIN_LOOK_MS = 100;
const CHECKS_PER_PERIOD = 10;
