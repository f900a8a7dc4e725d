import { isSameSubject, reaches } from '../domain/agent.ts';
import { APPROVAL_DECISIONS, type Approval, type ApprovalId, type ApprovalState } from '../domain/approval.ts';
import { planeError } from '../domain/errors.ts';
import { parseScopedId } from '../domain/ids.ts';
import type { Policy } from '../domain/policy.ts';
import type { DecideAnswer, RevealAnswer } from '../ports/approval-store.ts';
import type { Store } from '../ports/store.ts';
import { masksOf } from '../gate/approvals/render-question.ts';
import { standingOf, type Standing } from '../gate/approvals/may-decide.ts';
import { encode } from '../wire/message-pack.ts';
import { toViewer, type Approver, type Viewer } from './approver.ts';
import { decideRequest, type Decision } from './decide-request.ts';
import { refuseOtherGrant } from './earlier-grant.ts';

/**
 * Questions to people, for the trusted side. The gate asks them; here they are seen and decided. Whoever may not see one is told that
 * there is none. An id may be cut short to the start of itself or of its last part, as long as it means one pending approval.
 */
export interface Approvals {
  /**
   * Pending ones first, soonest expiry first. A list whose questions are together larger than 8 MiB ends early; `page` goes on.
   */
  list(approver: Approver, options?: ListOptions): Promise<Approval[]>;
  /** The same with a place to go on from. Without `next`, that was all. */
  page(approver: Approver, options?: ListOptions & { readonly skip?: number }): Promise<ApprovalPage>;
  get(approver: Approver, id: string): Promise<Approval>;
  /** Answers as soon as it is decided, or as it is when the time is up. */
  wait(
    approver: Approver,
    id: string,
    options?: { readonly waitMs?: number; readonly signal?: AbortSignal },
  ): Promise<Approval>;
  /**
   * Records that this approver saw what the question masks; show it after the answer `revealed`, with
   * `renderQuestion(question, { revealed: true })`. Each approver reveals for themselves, and a yes to a question with masks needs it.
   */
  reveal(approver: Approver, id: string, options: { readonly binding: string }): Promise<RevealAnswer>;
  /** The first answer wins; the same one again is the same answer. Only what names the binding that was shown counts. */
  decide(approver: Approver, id: string, decision: Decision): Promise<DecideAnswer>;
}

export interface ListOptions {
  readonly state?: ApprovalState;
  readonly limit?: number;
}

export interface ApprovalPage {
  readonly approvals: readonly Approval[];
  /** `skip` of the next page. */
  readonly next?: number;
}

type Needs = Pick<
  Store,
  | 'readApproval'
  | 'listApprovals'
  | 'matchApprovals'
  | 'decideApproval'
  | 'revealApproval'
  | 'readGrant'
  | 'readPolicy'
  | 'proveSession'
  | 'readSession'
>;

const DEFAULT_LIMIT = 100;
/** Of these, those that a subject may see are listed. */
const MOST_SEARCHED = 1000;
/** A page reads no more than about this much: a question may be as long as a call's arguments. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const READ_AT_ONCE = 100;
/** A shorter start says too little about what is meant. */
const SHORTEST_PREFIX = 4;
const POLL_FIRST_MS = 25;
const POLL_MOST_MS = 500;

export function createApprovals(store: Needs, settings: { readonly retentionMs: number }): Approvals {
  /** What this principal may see of it; nothing for a stranger. */
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
    // Several are told like none: who guesses learns nothing.
    if (found === undefined || others.length > 0)
      throw planeError('APPROVAL_UNKNOWN', { approval: asked.slice(0, 64) });
    return found;
  }

  /** Undefined for a requester: they may see their own question, and not answer it. */
  async function findToDecide(viewer: Viewer, asked: string): Promise<Approval | undefined> {
    const approval = await find(viewer, asked);
    const { policy } = await store.readPolicy();
    return standingFor(viewer, approval, policy) === 'approver' ? approval : undefined;
  }

  async function findByPrefix(prefix: string): Promise<ApprovalId[]> {
    if (prefix.length < SHORTEST_PREFIX || !/^[\w.-]+$/.test(prefix)) return [];
    return store.matchApprovals({ prefix, limit: MOST_SEARCHED });
  }

  /** Reads on until the page is full: of those that are read, a subject may see only some. */
  async function readPage(
    viewer: Viewer,
    { state, limit = DEFAULT_LIMIT, skip = 0 }: ListOptions & { readonly skip?: number },
  ): Promise<ApprovalPage> {
    const { policy } = await store.readPolicy();
    const approvals: Approval[] = [];
    let [next, bytes] = [skip, 0];
    while (next - skip < Math.max(limit, MOST_SEARCHED)) {
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
      for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, POLL_MOST_MS)) {
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
      // Nothing is masked, so there is nothing that the audit could say was revealed.
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

/** A session of another agent of the requester is a stranger: it is not the one that asked. */
function standingFor({ principal, identity }: Viewer, { question }: Approval, policy: Policy): Standing {
  const isOfSubject = identity !== undefined && isSameSubject(identity, question.identity);
  if (isOfSubject && !reaches(identity, question.identity)) return 'stranger';
  return standingOf(question, principal, policy);
}

function withoutDetail(approval: Approval): Approval {
  const { detail: _, ...question } = approval.question;
  return { ...approval, question };
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done);
  });
}
