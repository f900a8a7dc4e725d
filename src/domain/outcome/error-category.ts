import { ERRORS } from '../errors/errors.ts';
import type { Outcome, OutcomeKind } from './outcome.ts';

/**
 * All categories of failure, as events name them. The list is closed, so that failures can be counted and alerted on. `retryable` states
 * whether the cause may pass by itself, so that a later retry can help. Whether a second run would do harm is another question, answered by
 * `executed` and the effect.
 */
export const ERROR_CATEGORIES = {
  invalid_args: { retryable: false, says: 'the arguments were refused, by a schema or by an upstream (400, 422)' },
  not_found: { retryable: false, says: 'the tool, or what it looked for, is not there (404, 410)' },
  permission: { retryable: false, says: 'not allowed (401, 403), by the plane or by whoever the tool asked' },
  unauthenticated: { retryable: false, says: 'the session is unknown, expired or revoked' },
  blocked: { retryable: false, says: 'stopped by the gate: a rule, a hook, loop detection, a budget' },
  conflict: { retryable: false, says: 'the key was used for something else, or an upstream said 409' },
  stale: { retryable: true, says: 'the tool has changed since the caller saw it' },
  overloaded: { retryable: true, says: 'too much is waiting' },
  rate_limited: { retryable: true, says: 'an upstream said 429' },
  timeout: { retryable: true, says: 'a deadline passed, or an upstream did not answer in time' },
  cancelled: { retryable: false, says: 'somebody cancelled the call or aborted the request' },
  upstream_4xx: { retryable: false, says: 'another answer from 400 to 499 of an upstream' },
  upstream_5xx: { retryable: true, says: 'an upstream failed (500 to 599)' },
  network: { retryable: true, says: 'no connection: refused, reset, no such host' },
  reported: { retryable: false, says: 'the tool said that it failed, and no more is known' },
  invalid_result: { retryable: false, says: 'the tool ran, but its result cannot be used' },
  crashed: { retryable: false, says: "the tool's process or its worker was lost" },
  indeterminate: { retryable: false, says: 'nobody knows whether it ran' },
  store: { retryable: true, says: "trouble with the plane's own store" },
  internal: { retryable: false, says: 'the tool or a hook threw something that says no more' },
} as const satisfies Readonly<Record<string, { readonly retryable: boolean; readonly says: string }>>;
export type ErrorCategory = keyof typeof ERROR_CATEGORIES;

export function isErrorCategory(name: unknown): name is ErrorCategory {
  return typeof name === 'string' && Object.hasOwn(ERROR_CATEGORIES, name);
}

/** What a failure revealed about its cause; what it did not reveal is absent. */
export interface Fault {
  readonly category?: ErrorCategory;
  /** HTTP status, 100 to 599. */
  readonly status?: number;
}

export interface EventError {
  readonly category: ErrorCategory;
  readonly retryable: boolean;
  /** An error code of the plane, never one of a tool or of an exception. */
  readonly code?: string;
  readonly status?: number;
}

const CATEGORY_OF_KIND: Readonly<Record<OutcomeKind, ErrorCategory>> = {
  ok: 'internal',
  failed: 'reported',
  exception: 'internal',
  denied: 'permission',
  blocked: 'blocked',
  invalid: 'invalid_args',
  'unknown-tool': 'not_found',
  stale: 'stale',
  unauthenticated: 'unauthenticated',
  conflict: 'conflict',
  overloaded: 'overloaded',
  expired: 'timeout',
  'timed-out': 'timeout',
  cancelled: 'cancelled',
  crashed: 'crashed',
  indeterminate: 'indeterminate',
};

/**
 * The error field of an event about an outcome; undefined for `ok`. If the tool failed or threw, the category of `fault` is more precise
 * than that of the outcome and is used instead. For all other outcomes `fault` gives only the status.
 */
export function errorOfOutcome({ kind, error }: Outcome, fault?: Fault): EventError | undefined {
  if (kind === 'ok') return undefined;
  const shown = kind === 'failed' || kind === 'exception' ? fault?.category : undefined;
  const byCode = error?.code.startsWith('RESULT_') === true ? 'invalid_result' : undefined;
  return toEventError(shown ?? byCode ?? CATEGORY_OF_KIND[kind], error?.code, fault?.status);
}

export function toEventError(category: ErrorCategory, code?: unknown, status?: number): EventError {
  return {
    category,
    retryable: ERROR_CATEGORIES[category].retryable,
    ...(typeof code === 'string' && Object.hasOwn(ERRORS, code) ? { code } : {}),
    ...(status === undefined ? {} : { status }),
  };
}
