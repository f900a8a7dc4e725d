import type { Approvals } from '../client/approvals.ts';
import type { Approver } from '../client/approver.ts';
import type { Config } from '../config/config-schema.ts';
import type { Approval } from '../domain/approval.ts';
import { planeError, type PlaneError } from '../domain/errors.ts';
import { parseScopedId, type CallId } from '../domain/ids.ts';
import { readSettled, type SettledPage } from '../gateway/follow/read-settled.ts';
import type { AuditTrail, TrailPlace } from '../ports/audit-store.ts';
import type { Store } from '../ports/store.ts';
import { withTrailOf } from './with-trail.ts';

/** The console shows the last 8 characters. Fewer than this would often match several ids. */
const MIN_END_LENGTH = 4;
const ALL_LIVE = 100_000;
/** Pages of the audit that are searched for settled calls. Each page reads up to 20,000 records. */
const MAX_PAGES = 10;
const MAX_APPROVALS = 1000;
/** In the error. */
const MAX_NAMED = 5;

/**
 * The call that a whole id or the end of one names, among live calls and the settled ones of the audit. Throws CALL_UNKNOWN, or ID_AMBIGUOUS
 * when several calls have this end.
 */
export async function findCallId(store: Store, config: Config, asked: string): Promise<CallId> {
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
 * The approval that a whole id, its start or its end names, among those that this approver may see. Throws APPROVAL_UNKNOWN, or ID_AMBIGUOUS
 * when several approvals have this end: a decision must never go to a guessed question.
 */
export async function findApproval(approvals: Approvals, approver: Approver, asked: string): Promise<Approval> {
  const end = parseScopedId(asked) === undefined ? toEnd(asked) : undefined;
  if (end === undefined) return approvals.get(approver, asked);
  const listed = await approvals.list(approver, { limit: MAX_APPROVALS });
  const ids = listed.map(({ question }) => question.id as string);
  if (!ids.some((id) => id.endsWith(end))) return approvals.get(approver, asked);
  const [found, ...others] = ids.filter((id) => id.endsWith(end) || startsWith(id, end));
  if (others.length > 0) throw ambiguous(asked, [found!, ...others]);
  // Behind these there may be another one with this end.
  if (ids.length === MAX_APPROVALS) throw ambiguous(asked, [found!, '…']);
  return approvals.get(approver, found!);
}

/** A start of the id or of its last part, as `approvals.get` takes it. */
function startsWith(id: string, start: string): boolean {
  return id.startsWith(start) || id.slice(id.lastIndexOf('.') + 1).startsWith(start);
}

/** Without the dots in front that stand for the rest. Undefined when the text is too short or cannot be the end of an id. */
function toEnd(asked: string): string | undefined {
  const end = asked.replace(/^(?:…|\.{3})/, '');
  return end.length >= MIN_END_LENGTH && /^[\w.~-]+$/.test(end) ? end : undefined;
}

function ambiguous(asked: string, ids: readonly string[]): PlaneError {
  return planeError('ID_AMBIGUOUS', { asked: asked.slice(0, 80), ids: ids.slice(0, MAX_NAMED) });
}
