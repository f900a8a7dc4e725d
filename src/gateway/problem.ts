import { STATUS_CODES } from 'node:http';
import { escapeHidden } from '../base/escape-text.ts';
import { PlaneError, planeError, type PlaneErrorCode } from '../domain/errors/errors.ts';
import type { JsonObject } from '../base/json.ts';
import type { Outcome, OutcomeKind } from '../domain/outcome/outcome.ts';

/** The body of every error response: RFC 9457, with the codes of `docs/errors.md`. */
export interface Problem {
  /** A relative URI that only names the kind of problem. It is never fetched. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly fix?: string;
  readonly facts?: JsonObject;
  readonly retryAfterMs?: number;
  /** Only for a refused call: how the call ended, in the terms of an outcome. */
  readonly outcome?: Pick<Outcome, 'kind' | 'executed' | 'retryable' | 'advice'>;
}

/**
 * The messages of these errors name internal places, such as folders and servers. Clients get this fixed text instead; the message is only
 * in the log.
 */
const STORE_FAILURE = { status: 503, detail: 'The store cannot be used at the moment.', retryAfterMs: 1000 } as const;
const BROKEN = { status: 500, detail: 'Something is wrong in the gateway itself. Its log says what.' } as const;

type Answer = number | { readonly status: number; readonly detail: string; readonly retryAfterMs?: number };

const ANSWERS: Readonly<Record<PlaneErrorCode, Answer>> = {
  STORE_UNAVAILABLE: STORE_FAILURE,
  STORE_UNSAFE: STORE_FAILURE,
  STORE_REPLACED: STORE_FAILURE,
  STORE_UNADOPTED: STORE_FAILURE,
  STORE_OVERWRITTEN: STORE_FAILURE,
  STORE_MISSING: STORE_FAILURE,
  STORE_LOST: STORE_FAILURE,
  STORE_DAMAGED: STORE_FAILURE,
  STORE_LIBRARY: STORE_FAILURE,
  STORE_LOGIN: STORE_FAILURE,
  STORE_FORBIDDEN: STORE_FAILURE,
  STORE_ROLE: STORE_FAILURE,
  STORE_SENTINEL: STORE_FAILURE,
  STORE_NOT_EMPTY: STORE_FAILURE,
  STORE_LANES: STORE_FAILURE,
  STORE_VERSION: STORE_FAILURE,
  STORE_OWNED: STORE_FAILURE,
  STORE_FULL: STORE_FAILURE,
  STORE_READ_ONLY: STORE_FAILURE,
  STORE_FOLDER_UNSAFE: STORE_FAILURE,
  STORE_FAILED: STORE_FAILURE,
  BACKUP_FAILED: BROKEN,
  BACKUP_INVALID: BROKEN,
  CALL_UNKNOWN: 404,
  ID_AMBIGUOUS: 409,
  REDIRECT_NOWHERE: 400,
  CALL_NOT_INDETERMINATE: 409,
  APPROVAL_UNKNOWN: 404,
  APPROVAL_INVALID: 400,
  GRANT_UNKNOWN: 404,
  AGENT_UNKNOWN: 404,
  MODULE_UNKNOWN: 404,
  UPSTREAM_UNKNOWN: 404,
  UPSTREAM_UNSEEN: 409,
  UPSTREAM_OFFER_CHANGED: 409,
  UPSTREAM_DEFINITION_UNKNOWN: 404,
  MODULE_SERVED: 409,
  APPROVAL_NOT_YOURS: 403,
  APPROVAL_NOT_REVEALED: 409,
  TOKEN_INVALID: 400,
  TOKEN_UNKNOWN: 404,
  TOKENS_FULL: 409,
  POLICY_CONFLICT: 409,
  POLICY_INVALID: 400,
  SESSION_INVALID: 400,
  RUNS_FULL: 409,
  SUBSCRIPTION_REFUSED: 400,
  CONFIG_INVALID: BROKEN,
  MODULES_MISSING: BROKEN,
  SETUP_DUPLICATE: BROKEN,
  HOOKS_INVALID: BROKEN,
  AUDIT_SINK_MISSING: BROKEN,
  AUDIT_SINK_UNAVAILABLE: {
    status: 503,
    detail: 'The audit trail cannot be read at the moment.',
    retryAfterMs: 1000,
  },
  AUDIT_NO_GAP: BROKEN,
  AUDIT_KEYS_UNSAFE: BROKEN,
  AUDIT_KEYS_FOREIGN: BROKEN,
  AUDIT_TRUSTED_KEYS_MISSING: BROKEN,
  AUDIT_WENT_BACK: BROKEN,
  AUDIT_CHAIN_CHANGED: BROKEN,
  AUDIT_NOT_IN_ORDER: BROKEN,
  AUDITOR_KEY_INVALID: BROKEN,
  AUDIT_NOT_SEALED: BROKEN,
  AUDIT_SEAL_KEY: BROKEN,
  AUDIT_SEAL_BROKEN: BROKEN,
  SERVICES_INVALID: BROKEN,
  SERVICE_FAILED: BROKEN,
  HTTP_HOST_REFUSED: 421,
  HTTP_ORIGIN_REFUSED: 403,
  HTTP_REQUEST_INVALID: 400,
  HTTP_PATH_UNKNOWN: 404,
  METRICS_OFF: 404,
  HTTP_METHOD_REFUSED: 405,
  HTTP_BODY_TYPE: 415,
  HTTP_BODY_INVALID: 400,
  HTTP_BODY_TOO_LARGE: 413,
  HTTP_HEADERS_TOO_LARGE: 431,
  HTTP_TOO_SLOW: 408,
  PARAMETER_INVALID: 400,
  TOKEN_REFUSED: 401,
  SCOPE_MISSING: 403,
  CONSOLE_REQUEST_REFUSED: 403,
  LOGIN_REFUSED: 401,
  RATE_LIMITED: 429,
  GATEWAY_DRAINING: 503,
  GATEWAY_BUSY: 503,
  CLIENT_CLOSED: { status: 503, detail: 'The gateway is stopping.', retryAfterMs: 1000 },
  INTERNAL: BROKEN,
};

/** Status of a refused call by the kind of its outcome. A settled call is answered with success, whatever its outcome. */
const STATUS_OF_OUTCOME: Readonly<Record<OutcomeKind, number>> = {
  ok: 200,
  failed: 502,
  exception: 502,
  denied: 403,
  blocked: 403,
  invalid: 400,
  'unknown-tool': 404,
  stale: 409,
  unauthenticated: 401,
  conflict: 422,
  overloaded: 429,
  expired: 408,
  'timed-out': 504,
  cancelled: 409,
  crashed: 502,
  indeterminate: 502,
};

/**
 * Codes whose status differs from that of their outcome kind. RUN_UNKNOWN is 404: a missing run says nothing about credentials, and 401
 * would.
 */
const STATUS_OF_REFUSAL: Readonly<Record<string, number>> = { ARGUMENTS_TOO_LARGE: 413, RUN_UNKNOWN: 404 };

type RefusedOutcome = Pick<Outcome, 'kind' | 'executed' | 'retryable' | 'error' | 'advice'>;

/** Turns any error into a problem. An error that is not a PlaneError is reported only as INTERNAL, without its message. */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof PlaneError)) return problemOf(planeError('INTERNAL', { problem: 'it failed' }));
  const { code, message, fix, facts } = error;
  const answer = ANSWERS[code];
  if (typeof answer !== 'number') return createProblem({ ...answer, code });
  return createProblem({ status: answer, code, detail: message, fix, facts });
}

/** The problem for a call that was refused before it was accepted. */
export function problemOfOutcome({ kind, executed, retryable, error, advice }: RefusedOutcome): Problem {
  const { code = 'INTERNAL', message = 'The call was refused.', fix, facts } = error ?? {};
  const status = STATUS_OF_REFUSAL[code] ?? STATUS_OF_OUTCOME[kind];
  const outcome = { kind, executed, retryable, ...(advice === undefined ? {} : { advice }) };
  return { ...createProblem({ status, code, detail: message, fix, facts }), outcome };
}

/** Builds a problem directly, for responses that no thrown error stands for, e.g. a decision on a question that was already decided. */
export function createProblem(given: {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly fix?: string | undefined;
  readonly facts?: JsonObject | undefined;
  readonly retryAfterMs?: number | undefined;
}): Problem {
  const { status, code, detail, fix, facts = {} } = given;
  const retryAfterMs =
    given.retryAfterMs ?? (Number.isFinite(facts.retryAfterMs) ? Number(facts.retryAfterMs) : undefined);
  return {
    type: `/errors#${code}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    code,
    // A detail repeats names that the caller wrote, and people read it in terminals.
    detail: escapeHidden(detail),
    ...(fix === undefined ? {} : { fix }),
    ...(Object.keys(facts).length === 0 ? {} : { facts }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** The response headers of a problem, with Retry-After, WWW-Authenticate and Allow where they apply. */
export function problemHeaders(problem: Problem): Record<string, string> {
  const { status, code, facts, retryAfterMs } = problem;
  const allowed = code === 'HTTP_METHOD_REFUSED' ? facts?.allowed : undefined;
  return {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    ...(retryAfterMs === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1000))) }),
    ...(status === 401 ? { 'www-authenticate': 'Bearer realm="sallyport"' } : {}),
    ...(Array.isArray(allowed) ? { allow: allowed.map(String).join(', ') } : {}),
  };
}

export function problemResponse(problem: Problem): Response {
  return new Response(JSON.stringify(problem), { status: problem.status, headers: problemHeaders(problem) });
}
