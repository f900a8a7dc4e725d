import type { ArgumentChange } from '../call/argument-change.ts';
import type { CallId, RunId, SessionId, ToolId, WorkerId } from '../identity/ids.ts';
import type { Identity } from '../identity/session.ts';

declare const approvalBrand: unique symbol;
/** `<lane>.<scope>.<random>`, the same form as call ids. An approval is stored in its subject's lane. */
export type ApprovalId = string & { readonly [approvalBrand]: 'ApprovalId' };
declare const grantBrand: unique symbol;
export type GrantId = string & { readonly [grantBrand]: 'GrantId' };

export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const APPROVAL_DECISIONS = ['allow-once', 'allow-always', 'deny'] as const;
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

/** Every question ends in one of these ways. Callbacks and audit records use these words. */
export const RESOLUTIONS = ['allow-once', 'allow-always', 'deny', 'timeout', 'cancelled'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** pending ─► allowed (its call is queued again) | denied | expired | cancelled. A resolved approval never changes its state again. */
export const APPROVAL_STATES = ['pending', 'allowed', 'denied', 'expired', 'cancelled'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** The rule or hook that wants a person to decide about a call. */
export interface Asker {
  readonly kind: 'rule' | 'hook';
  readonly id: string;
  /** Digest of the rule's text, so that a changed rule asks again. For a hook, digest of its id. */
  readonly digest: string;
  /** True if a grant may answer instead of a person. Always true for a rule; for a hook only if the hook allows it. */
  readonly grantable: boolean;
}

/** An asker's name as questions, reasons, logs and audit records show it, such as `rule prod-writes`. */
export function nameOfAsker({ kind, id }: Pick<Asker, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** A place in a question that is shown as a mark until the approver reveals it. */
export interface QuestionMask {
  readonly of: 'arguments' | 'answers';
  /** JSON pointer (RFC 6901) to the masked value. */
  readonly pointer: string;
  /** The masked parts of a text, in UTF-16 units. Absent: the whole value is masked. */
  readonly spans?: readonly (readonly [start: number, end: number])[];
}

/** One question to a person about one exact call. It never changes after it is asked. */
export interface ApprovalQuestion {
  readonly id: ApprovalId;
  readonly callId: CallId;
  readonly tool: ToolId;
  readonly toolDigest: string;
  /** Canonical JSON. Exactly these bytes run, or nothing does, unless an approver edits them: see `Approval.editedArguments`. */
  readonly arguments: string;
  /** Canonical JSON of the answers to what the tool asked its caller for. They reach the tool together with the arguments. */
  readonly answers?: string;
  /**
   * The places that are hidden from approvers until they reveal them. Questions of an older release have no list: then everything counts as
   * masked.
   */
  readonly masks?: readonly QuestionMask[];
  /**
   * The changes that hooks made to the caller's arguments; absent if no hook changed them. Hooks do not run again after the decision, so
   * their changes are kept here.
   */
  readonly changedBy?: readonly ArgumentChange[];
  readonly session: SessionId;
  readonly run: RunId;
  readonly identity: Identity;
  readonly askers: readonly Asker[];
  readonly title: string;
  readonly description: string;
  readonly reasons: readonly string[];
  readonly severity: Severity;
  /** Only the approver sees this. It is never sent to the model or to a chat. */
  readonly detail?: string;
  readonly decisions: readonly ApprovalDecision[];
  /**
   * One list per asker that named approvers. An entry is a subject, `role:NAME`, `TENANT/*` or `*` (everyone in the requester's tenant). An
   * approver must be named in each list. No lists at all: only operators may decide.
   */
  readonly approvers: readonly (readonly string[])[];
  readonly requesterMayDecide: boolean;
  readonly quorum: number;
  /**
   * Random and never shown. Without it, an attacker could find a short secret in masked arguments by trying values against the binding.
   * Questions of older releases have none.
   */
  readonly salt?: string;
  /** SHA-256, in hex, of tool id, tool digest, arguments, session, askers and salt. A decision must name it. */
  readonly binding: string;
}

/** The person who decides, as the plane identifies them: `tenant/subject` of a session, or an operator with the store's credentials. */
export interface Principal {
  readonly kind: 'subject' | 'operator';
  readonly name: string;
}

export interface Vote {
  readonly by: Principal;
  readonly decision: ApprovalDecision;
  readonly at: number;
  /**
   * What this vote agreed to: the question's binding or, if the voter edited the arguments, the binding of the same question with the
   * edited arguments.
   */
  readonly binding: string;
  readonly comment?: string;
}

export interface Approval {
  readonly question: ApprovalQuestion;
  readonly state: ApprovalState;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly votes: readonly Vote[];
  /** Principals who have revealed what is masked. No other principal can allow a question with masks. */
  readonly revealedBy: readonly Principal[];
  readonly resolvedAt?: number;
  readonly resolution?: Resolution;
  /** Canonical JSON of the arguments that the approver who allowed the call put in place of the question's. */
  readonly editedArguments?: string;
  /** The grant that this decision created. */
  readonly grant?: GrantId;
  /** The worker that asked. While it is alive, only it may claim the callback, until one lease has passed since the decision. */
  readonly askedBy: WorkerId;
  /** True if a worker held the call before the question was asked, and may have run the tool. */
  readonly mayHaveRun: boolean;
  readonly callback: CallbackState;
}

/**
 * Whether the `approval_resolved` callback was invoked. `none`: no callback was requested. `unknown`: the worker that claimed it was lost,
 * so it may have been invoked.
 */
export const CALLBACK_STATES = ['none', 'waiting', 'claimed', 'done', 'unknown'] as const;
export type CallbackState = (typeof CALLBACK_STATES)[number];

/** Part of the delivery of a call that was parked for a question and then allowed. */
export interface ResumedWith {
  readonly approval: ApprovalId;
  /** True if no worker can have run the call so far: the question was asked before any start, and this is the first delivery since. */
  readonly untouched: boolean;
}

/** A remembered approval: later calls that match it are allowed without asking a person. */
export interface Grant {
  readonly id: GrantId;
  readonly tenant: string;
  readonly subject: string;
  /** The agent whose calls the grant answers. Absent: any agent of the subject. */
  readonly agent?: string;
  readonly tool: ToolId;
  /** Digest of the tool as it was shown to the approver. A changed tool is asked about again. */
  readonly toolDigest: string;
  /** `exact`: only arguments with this digest. `any`: all arguments. */
  readonly matches:
    | { readonly kind: 'exact'; readonly argumentsDigest: string }
    | { readonly kind: 'any' }
    /** `conditions` is JSON of `ArgumentCondition[]`: all of them must hold. */
    | { readonly kind: 'conditions'; readonly conditions: string };
  /** Digests of the askers that this grant answers. A changed rule has another digest, so it asks again. */
  readonly askers: readonly string[];
  readonly approval: ApprovalId;
  readonly by: Principal;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Absent: the grant can be used any number of times until it expires. */
  readonly usesLeft?: number;
  readonly revoked: boolean;
}

/** A grant before the store has added the approval, the principal and the times. */
export type NewGrant = Omit<Grant, 'approval' | 'by' | 'createdAt' | 'expiresAt' | 'revoked'> & {
  readonly lifetimeMs: number;
};

const SECOND_MS = 1000;
const DAY_MS = 24 * 60 * 60 * SECOND_MS;

export const APPROVAL_LIMITS = Object.freeze({
  titleLength: 80,
  descriptionLength: 512,
  detailLength: 16_384,
  reasonLength: 512,
  commentLength: 512,
  principalLength: 600,
  defaultTimeoutMs: 120 * SECOND_MS,
  minTimeoutMs: SECOND_MS,
  maxTimeoutMs: 7 * DAY_MS,
  defaultGrantMs: 30 * DAY_MS,
  maxGrantMs: 365 * DAY_MS,
});
