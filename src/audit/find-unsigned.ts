import type { Statements } from './read-statements.ts';

interface Lane {
  readonly store: string;
  readonly lane: number;
  readonly signed: number;
  readonly last: number;
  readonly unsignedSince?: number;
}

interface Limits {
  /** The current store time. */
  readonly now: number;
  readonly maxMs: number;
  /** Milliseconds since the newest trusted key was created. Absent: there is no key. */
  readonly keyAgeMs?: number;
}

const HOW = 'start the gateway, or dev, with this audit.keys: it signs at its start. Then ask again';

/**
 * Finds records that have waited for a signature longer than `maxMs`, which a running signer prevents, and a key that has never signed. If
 * the last statement is recent, a signer is running, and records without a signature reached the sink late because it was unavailable.
 */
export function findUnsigned(
  { count, lastAt = Number.NEGATIVE_INFINITY }: Pick<Statements, 'count' | 'lastAt'>,
  lanes: readonly Lane[],
  { now, maxMs, keyAgeMs }: Limits,
): { store?: string; lane?: number; sequence?: number; what: string } | undefined {
  if (count === 0 && keyAgeMs !== undefined && keyAgeMs > maxMs) {
    const what = `there is a key and no signed statement: all were deleted, or nothing was ever signed; ${HOW}`;
    return { what };
  }
  if (now - lastAt <= maxMs) return undefined;
  const loose = lanes.find(({ unsignedSince = now }) => now - unsignedSince > maxMs);
  if (loose === undefined) return undefined;
  const { store, lane, signed, last, unsignedSince } = loose;
  const seconds = Math.round((now - unsignedSince!) / 1000);
  const what = `it and all behind it (up to ${last}) have waited for a signature for ${seconds} s; ${HOW}`;
  return { store, lane, sequence: signed + 1, what };
}

/** Notices for an operator: states that are valid only because an operator has signed them, and statements that have no number yet. */
export function describeStatements({ rollbacks, links }: Pick<Statements, 'rollbacks' | 'links'>): string[] {
  const notices = rollbacks.map(({ number, after, givenUp, at, reason, by }) => {
    const lost = Math.max(...givenUp.map((mark) => mark.number));
    const when = new Date(at).toISOString();
    return `statement ${number}: on ${when} ${by} gave up statements after ${after} up to ${lost}: ${reason}`;
  });
  const isUnstarted = links.length > 0 && links.every(({ number }) => number < 1);
  if (isUnstarted)
    notices.push('statements are not numbered yet: the gateway, or dev, starts the chain when it starts');
  return notices;
}
