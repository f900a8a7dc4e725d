import type { ArgumentChange } from './argument-change.ts';
import type { CallId, RunId, SessionId, ToolId, WorkerId } from './ids.ts';
import type { Identity } from './session.ts';

declare const approvalBrand: unique symbol;
/** `<lane>.<scope>.<random>`, as call ids: it lives in its subject's lane. */
export type ApprovalId = string & { readonly [approvalBrand]: 'ApprovalId' };
declare const grantBrand: unique symbol;
export type GrantId = string & { readonly [grantBrand]: 'GrantId' };

export const SEVERITIES = ['info', 'warning', 'critical'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const APPROVAL_DECISIONS = ['allow-once', 'allow-always', 'deny'] as const;
export type ApprovalDecision = (typeof APPROVAL_DECISIONS)[number];

/** How every question ends, whatever happened: the five words callbacks and audit know. */
export const RESOLUTIONS = ['allow-once', 'allow-always', 'deny', 'timeout', 'cancelled'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

/** pending ─► allowed (its call is queued again) | denied | expired | cancelled. Never back. */
export const APPROVAL_STATES = ['pending', 'allowed', 'denied', 'expired', 'cancelled'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** Who or what wanted a person to look. */
export interface Asker {
  readonly kind: 'rule' | 'hook';
  readonly id: string;
  /** Of the rule as it was written: another text asks again. For a hook, of its id. */
  readonly digest: string;
  /** A grant may answer instead of a person. Rules always; a hook only if it says so. */
  readonly grantable: boolean;
}

/** `rule prod-writes`: as questions, reasons, log and audit name it. */
export function nameOfAsker({ kind, id }: Pick<Asker, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

/** A place of a question that is shown as a mark until the approver reveals it. */
export interface QuestionMask {
  readonly of: 'arguments' | 'answers';
  /** RFC 6901. */
  readonly pointer: string;
  /** Parts of a text, in UTF-16 units. Absent: the whole value is masked. */
  readonly spans?: readonly (readonly [start: number, end: number])[];
}

/** One question to a person about one exact call. Never changes once it is asked. */
export interface ApprovalQuestion {
  readonly id: ApprovalId;
  readonly callId: CallId;
  readonly tool: ToolId;
  readonly toolDigest: string;
  /** Canonical JSON; these bytes run, or nothing does. */
  readonly arguments: string;
  /** Canonical JSON of what the caller's person answered to the tool; it reaches the tool together with the arguments. */
  readonly answers?: string;
  /** What is hidden from approvers at first. A question of an older release has no list: all of it counts as masked. */
  readonly masks?: readonly QuestionMask[];
  /** Hooks that made them of the caller's; absent where none did. They are not run again, so this is where it is remembered. */
  readonly changedBy?: readonly ArgumentChange[];
  readonly session: SessionId;
  readonly run: RunId;
  readonly identity: Identity;
  readonly askers: readonly Asker[];
  readonly title: string;
  readonly description: string;
  readonly reasons: readonly string[];
  readonly severity: Severity;
  /** For the approver's eyes only: never sent to the model or to a chat. */
  readonly detail?: string;
  readonly decisions: readonly ApprovalDecision[];
  /**
   * Lists of subjects, `role:NAME`, `TENANT/*` or `*` (everybody of the requester's tenant): one per asker that named any, and who decides
   * is named in each of them. None at all: operators only.
   */
  readonly approvers: readonly (readonly string[])[];
  readonly requesterMayDecide: boolean;
  readonly quorum: number;
  /** Random, and never shown: without it, a short secret in masked arguments could be found by trying bindings. Older releases had none. */
  readonly salt?: string;
  /** SHA-256, hex, of tool id, tool digest, arguments, session, askers and salt. A decision must name it. */
  readonly binding: string;
}

/** Who decided, as the plane knows them: `tenant/subject` of a session, or an operator with the store's credentials. */
export interface Principal {
  readonly kind: 'subject' | 'operator';
  readonly name: string;
}

export interface Vote {
  readonly by: Principal;
  readonly decision: ApprovalDecision;
  readonly at: number;
  /** What they agreed to: the question's binding, or that of the same question with their arguments in the place of its own. */
  readonly binding: string;
  readonly comment?: string;
}

export interface Approval {
  readonly question: ApprovalQuestion;
  readonly state: ApprovalState;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly votes: readonly Vote[];
  /** Principals who have seen what is masked. No other principal can allow a question with masks. */
  readonly revealedBy: readonly Principal[];
  readonly resolvedAt?: number;
  readonly resolution?: Resolution;
  /** Canonical JSON put in the place of the question's, by the person who allowed it. */
  readonly editedArguments?: string;
  /** Made by this very decision. */
  readonly grant?: GrantId;
  /** The worker that asked; while it lives, the callback is its own. */
  readonly askedBy: WorkerId;
  /** Somebody held the call before it was asked about, and may have run it. */
  readonly mayHaveRun: boolean;
  readonly callback: CallbackState;
}

/** Whether `approval_resolved` was invoked. `none`: nobody asked for it; `unknown`: whoever claimed it was lost, it may have been. */
export const CALLBACK_STATES = ['none', 'waiting', 'claimed', 'done', 'unknown'] as const;
export type CallbackState = (typeof CALLBACK_STATES)[number];

/** What a delivery carries after a decision. */
export interface ResumedWith {
  readonly approval: ApprovalId;
  /** Nobody can have run the call so far: it was asked about before any start, and this is the first delivery since. */
  readonly untouched: boolean;
}

/** A remembered yes. */
export interface Grant {
  readonly id: GrantId;
  readonly tenant: string;
  readonly subject: string;
  /** Absent: any agent of the subject. */
  readonly agent?: string;
  readonly tool: ToolId;
  /** Of the tool as it was shown; a changed one asks again. */
  readonly toolDigest: string;
  /** `exact`: these arguments only; `any`: whatever they are. */
  readonly matches:
    | { readonly kind: 'exact'; readonly argumentsDigest: string }
    | { readonly kind: 'any' }
    /** JSON of `ArgumentCondition[]`: all of them must hold. */
    | { readonly kind: 'conditions'; readonly conditions: string };
  /** Digests of the askers it answers; a changed rule asks again. */
  readonly askers: readonly string[];
  readonly approval: ApprovalId;
  readonly by: Principal;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Absent: as often as it is needed until it expires. */
  readonly usesLeft?: number;
  readonly revoked: boolean;
}

/** A grant before the store has given it its times. */
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
  leastTimeoutMs: SECOND_MS,
  mostTimeoutMs: 7 * DAY_MS,
  defaultGrantMs: 30 * DAY_MS,
  mostGrantMs: 365 * DAY_MS,
});
