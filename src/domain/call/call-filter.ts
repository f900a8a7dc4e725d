import { OUTCOME_KINDS, type OutcomeKind } from '../outcome/outcome.ts';

/** Groups of outcome kinds that a filter can name. `errors` leaves out calls that were refused on purpose or cancelled. */
const FILTER_GROUPS = ['not-ok', 'errors', 'refused'] as const;
export const OUTCOME_FILTERS = [...FILTER_GROUPS, ...OUTCOME_KINDS] as const;
export type OutcomeFilter = (typeof OUTCOME_FILTERS)[number];

const GROUP_OF_KIND: Readonly<Record<OutcomeKind, 'ok' | 'errors' | 'refused' | 'cancelled'>> = {
  ok: 'ok',
  denied: 'refused',
  blocked: 'refused',
  cancelled: 'cancelled',
  failed: 'errors',
  exception: 'errors',
  invalid: 'errors',
  'unknown-tool': 'errors',
  stale: 'errors',
  unauthenticated: 'errors',
  conflict: 'errors',
  overloaded: 'errors',
  expired: 'errors',
  'timed-out': 'errors',
  crashed: 'errors',
  indeterminate: 'errors',
};

export const REFUSED_KINDS: readonly OutcomeKind[] = OUTCOME_KINDS.filter((kind) => GROUP_OF_KIND[kind] === 'refused');
export const ERROR_KINDS: readonly OutcomeKind[] = OUTCOME_KINDS.filter((kind) => GROUP_OF_KIND[kind] === 'errors');

export interface CallFilter {
  readonly tool?: string | undefined;
  readonly agent?: string | undefined;
  readonly subject?: string | undefined;
  readonly tenant?: string | undefined;
  readonly run?: string | undefined;
  /** An outcome kind or a group of kinds. */
  readonly outcome?: string | undefined;
  /** Part of a name, or part of an id as `isIdLike` matches it. */
  readonly text?: string | undefined;
  /** Earliest time of a call, inclusive: when it ended, or was accepted if it has not ended. */
  readonly from?: number | undefined;
  /** Latest time of a call, exclusive. */
  readonly to?: number | undefined;
}

/** The fields of a listed call that filters read. */
export interface FilteredCall {
  readonly callId: string;
  readonly tool: string;
  readonly agent: string;
  readonly subject: string;
  readonly tenant: string;
  readonly session: string;
  readonly run: string;
  readonly outcome?: string | undefined;
  readonly code?: string | undefined;
  readonly approval?: string | undefined;
  readonly grant?: string | undefined;
  readonly detector?: string | undefined;
  readonly rule?: string | undefined;
  readonly parent?: string | undefined;
  readonly acceptedAt?: number | undefined;
  readonly settledAt?: number | undefined;
}

const NAMES = ['tool', 'agent', 'subject', 'tenant', 'run'] as const;

/**
 * The only implementation of call filters. The gateway uses it for its lists, the console for calls that arrive while a page is open, and
 * the command line, so that all of them show the same calls.
 */
export function matchesCall(call: FilteredCall, filter: CallFilter): boolean {
  for (const name of NAMES) if (filter[name] !== undefined && filter[name] !== call[name]) return false;
  const { outcome, text, from = 0, to = Number.POSITIVE_INFINITY } = filter;
  const at = call.settledAt ?? call.acceptedAt ?? 0;
  if (at < from || at >= to) return false;
  if (outcome !== undefined && !matchesOutcome(call.outcome, outcome)) return false;
  return text === undefined || matchesText(call, text);
}

function matchesOutcome(kind: string | undefined, wanted: string): boolean {
  if (kind === undefined) return false;
  if (wanted === 'not-ok') return kind !== 'ok';
  if (wanted === 'errors') return ERROR_KINDS.some((error) => error === kind);
  if (wanted === 'refused') return REFUSED_KINDS.some((refused) => refused === kind);
  return kind === wanted;
}

const SEARCHED_IDS = ['callId', 'approval', 'grant', 'parent', 'session', 'run'] as const;
const SEARCHED_TEXTS = ['tool', 'agent', 'subject', 'tenant', 'code', 'rule', 'detector'] as const;

/**
 * Whether `text` is the beginning of the id, the beginning of its last part, or its end. All ids of one subject begin alike, so the
 * beginning alone would not be enough.
 */
export function isIdLike(id: string, text: string): boolean {
  return id.startsWith(text) || id.startsWith(text, id.lastIndexOf('.') + 1) || id.endsWith(text);
}

function matchesText(call: FilteredCall, text: string): boolean {
  if (SEARCHED_IDS.some((name) => call[name] !== undefined && isIdLike(call[name], text))) return true;
  const wanted = text.toLowerCase();
  return SEARCHED_TEXTS.some((name) => call[name]?.toLowerCase().includes(wanted) === true);
}
