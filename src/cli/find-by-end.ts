import type { Approvals } from '../client/approvals.ts';
import type { Approver } from '../client/approver.ts';
import type { Config } from '../config/config-schema.ts';
import type { Approval } from '../domain/policy/approval.ts';
import { planeError, type PlaneError } from '../domain/errors/errors.ts';
import { parseScopedId, type CallId } from '../domain/identity/ids.ts';
import { readSettled, type SettledPage } from '../gateway/follow/read-settled.ts';
import type { AuditTrail, TrailPlace } from '../domain/ports/audit-store.ts';
import type { AnyStore } from '../domain/ports/store.ts';
import { withTrailOf } from './with-trail.ts';

/** Min length of the end of an id. The console shows the last 8 characters; an end shorter than 4 would often match several ids. */
const MIN_END_LENGTH = 4;
const ALL_LIVE = 100_000;
/** Max pages of the audit that are searched for settled calls. Each page reads up to 20,000 records. */
const MAX_PAGES = 10;
const MAX_APPROVALS = 1000;
/** Max ids that the error ID_AMBIGUOUS names. */
const MAX_NAMED = 5;

/**
 * Finds a call by its whole id, which is returned without a search, or by the end of its id, among live calls and the settled calls of the
 * audit. Throws CALL_UNKNOWN, or ID_AMBIGUOUS when several calls have this end.
 */
export async function findCallId(store: AnyStore, config: Config, asked: string): Promise<CallId> {
  if (parseScopedId(asked) !== undefined) return asked as CallId;
  const end = toEnd(asked);
  if (end === undefined) throw planeError('CALL_UNKNOWN', { callId: asked.slice(0, 80) });
  const live = (await store.listCalls({ limit: ALL_LIVE })).map(({ callId }) => callId as string);
  const settled = await withTrailOf(store, config, (trail) => findSettled(trail, end));
  const [found, ...others] = new Set([...live, ...settled].filter((id) => id.endsWith(end)));
  if (others.length > 0) throw ambiguous(asked, [found!, ...others]);
  if (found === undefined) throw planeError('CALL_UNKNOWN', { callId: asked.slice(0, 80) });
  return found as CallId;
}

async function findSettled(trail: AuditTrail | undefined, end: string): Promise<string[]> {
  if (trail === undefined) return [];
  const found: string[] = [];
  let place: TrailPlace | undefined;
  for (let pages = 0; pages < MAX_PAGES && found.length < 2; pages += 1) {
    const page: SettledPage = await readSettled(trail, { text: end }, place, 10);
    found.push(...page.rows.map(({ row }) => row.callId).filter((id) => id.endsWith(end)));
    place = page.next;
    if (place === undefined) break;
  }
  return found;
}

/**
 * Finds an approval by its whole id, or by the start or the end of its id, among those that this approver may see. Throws APPROVAL_UNKNOWN, or
 * ID_AMBIGUOUS when several approvals match: a decision must never go to a guessed question.
 */
export async function findApproval(approvals: Approvals, approver: Approver, asked: string): Promise<Approval> {
  const end = parseScopedId(asked) === undefined ? toEnd(asked) : undefined;
  if (end === undefined) return approvals.get(approver, asked);
  const listed = await approvals.list(approver, { limit: MAX_APPROVALS });
  const ids = listed.map(({ question }) => question.id as string);
  if (!ids.some((id) => id.endsWith(end))) return approvals.get(approver, asked);
  const [found, ...others] = ids.filter((id) => id.endsWith(end) || startsWith(id, end));
  if (others.length > 0) throw ambiguous(asked, [found!, ...others]);
  // The list was cut at MAX_APPROVALS, so there may be another approval with this end.
  if (ids.length === MAX_APPROVALS) throw ambiguous(asked, [found!, '…']);
  return approvals.get(approver, found!);
}

/** Whether the text is a start of the id or of its last part. `approvals.get` accepts the same starts. */
function startsWith(id: string, start: string): boolean {
  return id.startsWith(start) || id.slice(id.lastIndexOf('.') + 1).startsWith(start);
}

/** Removes the leading dots of a shortened id. Undefined if the text is too short or cannot be the end of an id. */
function toEnd(asked: string): string | undefined {
  const end = asked.replace(/^(?:…|\.{3})/, '');
  return end.length >= MIN_END_LENGTH && /^[\w.~-]+$/.test(end) ? end : undefined;
}

function ambiguous(asked: string, ids: readonly string[]): PlaneError {
  return planeError('ID_AMBIGUOUS', { asked: asked.slice(0, 80), ids: ids.slice(0, MAX_NAMED) });
}
