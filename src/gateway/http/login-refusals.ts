import type { Actor } from '../../domain/identity/actor.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { LoginRecords } from '../../domain/ports/token-store.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { RateLimit } from './rate-limit.ts';

export interface LoginRefusals {
  /** Writes the audit record, or only counts the refusal if there were too many. Never throws: the login is refused anyway. */
  record(kind: 'code' | 'token', address: string): Promise<void>;
}

/**
 * The limit of audit records: one every six seconds, twenty at once. An attacker who guesses from many addresses must not fill the audit.
 */
const RATE = { perSecond: 1 / 6, burst: 20 };
const UNKNOWN_CALLER: Actor = { by: 'unknown', via: 'console' };

/** Writes the audit records of refused logins, limited per gateway. Each record says how many refusals before it have no record. */
export function createLoginRefusals(
  store: LoginRecords,
  log: Log,
  limit: RateLimit = new RateLimit(RATE),
): LoginRefusals {
  let omitted = 0;
  return {
    async record(kind, address) {
      if (limit.take('') > 0) {
        omitted += 1;
        return;
      }
      const before = omitted;
      omitted = 0;
      const what = kind === 'code' ? 'a login link' : 'a token';
      const detail = `${what} that is not valid, from ${address}${before === 0 ? '' : `; ${before} more before it`}`;
      try {
        await store.recordLogin({ outcome: 'refused', attempt: randomId(), actor: UNKNOWN_CALLER, detail });
      } catch (error) {
        omitted += before + 1;
        log.warn({ error }, 'a refused login could not be written to the audit');
      }
    },
  };
}
