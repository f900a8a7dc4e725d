import { isSameSubject, reaches } from '../domain/identity/agent.ts';
import { APPROVAL_DECISIONS, type Approval, type ApprovalId, type ApprovalState } from '../domain/policy/approval.ts';
import { planeError } from '../domain/errors/errors.ts';
import { parseScopedId } from '../domain/identity/ids.ts';
import type { Policy } from '../domain/policy/policy.ts';
import type { ApprovalDesk, DecideAnswer, GrantReader, RevealAnswer } from '../domain/ports/approval-store.ts';
import type { PolicyReader } from '../domain/ports/policy-store.ts';
import type { SessionProof, SessionReader } from '../domain/ports/session-store.ts';
import { masksOf } from '../gate/approvals/render-question.ts';
import { standingOf, type Standing } from '../gate/approvals/may-decide.ts';
import { encode } from '../base/message-pack.ts';
import { toViewer, type Approver, type Viewer } from './approver.ts';
import { decideRequest, type Decision } from './decide-request.ts';
import { refuseOtherGrant } from './earlier-grant.ts';
import { pause } from '../base/pause.ts';

/**
 * The trusted side's view of approvals. The gate asks the questions; here approvers list and decide them. An approval that the approver may
 * not see is reported as unknown. An id may be shortened to its first characters, or to the first characters of its last part, as long as
 * that matches exactly one pending approval.
 */
export interface Approvals {
  /** Lists pending approvals first, soonest expiry first. A result whose questions exceed 8 MiB in total is read in several pages. */
  list(approver: Approver, options?: ListOptions): Promise<Approval[]>;
  /** Like `list`, one page at a time. `next` is the `skip` value of the following page; it is absent on the last page. */
  page(approver: Approver, options?: ListOptions & { readonly skip?: number }): Promise<ApprovalPage>;
  get(approver: Approver, id: string): Promise<Approval>;
  /** Returns as soon as the approval is decided. After `waitMs` (default 60,000) or an abort it returns the approval as it stands. */
  wait(
    approver: Approver,
    id: string,
    options?: { readonly waitMs?: number; readonly signal?: AbortSignal },
  ): Promise<Approval>;
  /**
   * Records that this approver saw the masked values of the question. Show them only after the answer `revealed`, with
   * `renderQuestion(question, { revealed: true })`. Each approver has to reveal separately, and can allow a question with masks only after
   * that.
   */
  reveal(approver: Approver, id: string, options: { readonly binding: string }): Promise<RevealAnswer>;
  /** The first decision wins; repeating the same decision returns the same answer. A decision counts only if it names the binding that was shown. */
  decide(approver: Approver, id: string, decision: Decision): Promise<DecideAnswer>;
}

export interface ListOptions {
  readonly state?: ApprovalState;
  readonly limit?: number;
}

export interface ApprovalPage {
  readonly approvals: readonly Approval[];
  /** The `skip` value for the next page. */
  readonly next?: number;
}

type Needs = ApprovalDesk & GrantReader & SessionProof & SessionReader & PolicyReader;

const DEFAULT_LIMIT = 100;
/** Max stored approvals that one page or prefix lookup reads to find those that a subject may see. */
const MAX_SEARCHED = 1000;
/** A page reads about this many bytes at most: a question may be as long as a call's arguments. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const READ_AT_ONCE = 100;
/** A shorter prefix is rejected: it would match too many approvals. */
const MIN_PREFIX = 4;
const POLL_FIRST_MS = 25;
const MAX_POLL_MS = 500;

export function createApprovals(store: Needs, settings: { readonly retentionMs: number }): Approvals {
  /** The parts of the approvals that this viewer may see; a viewer who is neither approver nor requester sees none. */
  async function visibleTo(viewer: Viewer, approvals: readonly (Approval | undefined)[]): Promise<Approval[]> {
    const { policy } = await store.readPolicy();
    return approvals.flatMap((approval) => (approval === undefined ? [] : seenBy(viewer, approval, policy)));
  }

  function seenBy(viewer: Viewer, approval: Approval, policy: Policy): Approval[] {
    const standing = standingFor(viewer, approval, policy);
    return standing === 'stranger' ? [] : [standing === 'requester' ? withoutDetail(approval) : approval];
  }

  async function find(viewer: Viewer, asked: string): Promise<Approval> {
    const isWhole = parseScopedId(asked) !== undefined;
    const ids = isWhole ? [asked as ApprovalId] : await findByPrefix(asked);
    const [found, ...others] = await visibleTo(viewer, await Promise.all(ids.map((id) => store.readApproval(id))));
    // An ambiguous prefix gives the same answer as an unknown id, so that a caller who guesses ids learns nothing.
    if (found === undefined || others.length > 0)
      throw planeError('APPROVAL_UNKNOWN', { approval: asked.slice(0, 64) });
    return found;
  }

  /** Undefined if this viewer asked the question: requesters may see their own question but not decide it. */
  async function findToDecide(viewer: Viewer, asked: string): Promise<Approval | undefined> {
    const approval = await find(viewer, asked);
    const { policy } = await store.readPolicy();
    return standingFor(viewer, approval, policy) === 'approver' ? approval : undefined;
  }

  async function findByPrefix(prefix: string): Promise<ApprovalId[]> {
    if (prefix.length < MIN_PREFIX || !/^[\w.-]+$/.test(prefix)) return [];
    return store.matchApprovals({ prefix, limit: MAX_SEARCHED });
  }

  /** Reads in batches until the page is full, because a subject may see only some of the approvals in each batch. */
  async function readPage(
    viewer: Viewer,
    { state, limit = DEFAULT_LIMIT, skip = 0 }: ListOptions & { readonly skip?: number },
  ): Promise<ApprovalPage> {
    const { policy } = await store.readPolicy();
    const approvals: Approval[] = [];
    let [next, bytes] = [skip, 0];
    while (next - skip < Math.max(limit, MAX_SEARCHED)) {
      const readAtOnce = viewer.principal.kind === 'operator' ? limit - approvals.length + 1 : READ_AT_ONCE;
      const wanted = {
        limit: readAtOnce,
        skip: next,
        maxBytes: MAX_PAGE_BYTES,
        ...(state === undefined ? {} : { state }),
      };
      const listed = await store.listApprovals(wanted);
      if (listed.length === 0) return { approvals };
      for (const approval of listed) {
        if (approvals.length === limit || bytes > MAX_PAGE_BYTES) return { approvals, next };
        next += 1;
        bytes += approval.question.arguments.length + (approval.question.answers?.length ?? 0);
        approvals.push(...seenBy(viewer, approval, policy));
      }
    }
    return { approvals, next };
  }

  return {
    async list(approver, options = {}) {
      const viewer = await toViewer(store, approver);
      const { limit = DEFAULT_LIMIT } = options;
      const approvals: Approval[] = [];
      for (let skip: number | undefined = 0; skip !== undefined && approvals.length < limit;) {
        const page: ApprovalPage = await readPage(viewer, { ...options, limit: limit - approvals.length, skip });
        approvals.push(...page.approvals);
        skip = page.next;
      }
      return approvals;
    },
    async page(approver, options = {}) {
      return readPage(await toViewer(store, approver), options);
    },
    async get(approver, id) {
      return find(await toViewer(store, approver), id);
    },
    async wait(approver, asked, { waitMs = 60_000, signal } = {}) {
      const viewer = await toViewer(store, approver);
      const giveUpAt = performance.now() + waitMs;
      let approval = await find(viewer, asked);
      for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_POLL_MS)) {
        const leftMs = giveUpAt - performance.now();
        if (approval.state !== 'pending' || leftMs <= 0 || signal?.aborted === true) return approval;
        await pause(Math.min(pauseMs, leftMs), signal);
        approval = await find(viewer, approval.question.id);
      }
    },
    async reveal(approver, asked, { binding }) {
      const viewer = await toViewer(store, approver);
      const approval = await findToDecide(viewer, asked);
      const by = viewer.principal;
      if (approval === undefined) return { kind: 'not-yours' };
      const { question, state } = approval;
      const { id } = question;
      // If nothing is masked, there is nothing to reveal, and nothing is written to the audit.
      const isOpen = state === 'pending' && binding === question.binding;
      if (isOpen && masksOf(question).length === 0) return { kind: 'revealed' };
      const audit = encode({ approval: id, binding, by: `${by.kind} ${by.name}` });
      return store.revealApproval({ id, binding, by, audit });
    },
    async decide(approver, asked, decision) {
      const viewer = await toViewer(store, approver);
      if (!APPROVAL_DECISIONS.includes(decision.decision)) {
        throw planeError('APPROVAL_INVALID', { problem: `the decision must be ${APPROVAL_DECISIONS.join(', ')}` });
      }
      const approval = await findToDecide(viewer, asked);
      if (approval === undefined) return { kind: 'not-yours' };
      const request = decideRequest(approval.question, viewer.principal, decision, settings.retentionMs);
      return refuseOtherGrant(store, request, await store.decideApproval(request));
    },
  };
}

/** A session of the requester's subject that belongs to another agent counts as a stranger: that agent did not ask. */
function standingFor({ principal, identity }: Viewer, { question }: Approval, policy: Policy): Standing {
  const isOfSubject = identity !== undefined && isSameSubject(identity, question.identity);
  if (isOfSubject && !reaches(identity, question.identity)) return 'stranger';
  return standingOf(question, principal, policy);
}

function withoutDetail(approval: Approval): Approval {
  const { detail: _, ...question } = approval.question;
  return { ...approval, question };
}
