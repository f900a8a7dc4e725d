import type { ApprovalId, Resolution, Severity } from '../policy/approval.ts';
import type { AttemptId } from '../call/attempt-id.ts';
import type { EventError } from '../outcome/error-category.ts';
import type { CallId, RunId, SessionId, ToolId } from '../identity/ids.ts';
import type { Executed, OutcomeKind } from '../outcome/outcome.ts';
import type { Stage } from '../call/stages.ts';
import type { ValueSummary } from './summarise-value.ts';
import type { Effect, RunnerName } from '../tool/tool.ts';

/**
 * Everything that can happen to a call, as events for operators. Names are `noun.verb`, past tense. Every field is an id, a number, or a
 * word of a closed list. There is no field for free text, so no event can carry an argument or a secret. `event-table.ts` describes each
 * event, and `docs/events.md` is generated from it.
 */
export interface DiagnosticEventMap {
  'call.accepted': Described & Timed & { readonly deadlineMs: number; readonly parent?: CallId };
  'call.attached': Described & Timed & { readonly parent?: CallId };
  'call.replayed': Ended & Timed & { readonly parent?: CallId };
  'call.refused': Ended & Timed & { readonly error: EventError };
  'call.admitted': { readonly fence: number; readonly recovered: boolean; readonly waitedMs: number };
  'call.resumed': { readonly fence: number };
  'call.identified': Timed;
  'call.pending': Timed;
  'call.parked': { readonly approvalId?: ApprovalId; readonly timeoutMs: number };
  'call.abandoned': Timed;
  'call.lost': Timed;
  'call.left': { readonly error: EventError };
  'call.cancelled': { readonly answer: 'cancelled' | 'cancelling' | 'settled' | 'unknown' };
  'call.expired': { readonly overdue: boolean };
  'call.settled': Ended & Timed;
  'call.answered': Ended & Timed;
  'tool.started': Described & { readonly runner: RunnerName | 'wrapped'; readonly effect?: Effect };
  'tool.completed': Timed;
  'tool.failed': Ended & Timed & { readonly error: EventError };
  'tool.blocked': Ended & { readonly error: EventError; readonly by?: BlockedBy; readonly byId?: string };
  'loop.warned': Loop;
  'loop.blocked': Loop & { readonly blocks: 'call' | 'pattern' | 'run' };
  'approval.requested': { readonly approvalId: ApprovalId; readonly severity: Severity; readonly timeoutMs: number };
  'approval.resolved': {
    readonly approvalId: ApprovalId;
    readonly resolution: Resolution;
    readonly durationMs?: number;
  };
  'hook.failed': Timed & { readonly hook: string; readonly how: HookFailure; readonly error: EventError };
  'events.lost': { readonly lost: number };
}
export type EventKind = keyof DiagnosticEventMap;

interface Timed {
  readonly durationMs: number;
}
interface Described {
  readonly parameters: ValueSummary;
}
interface Ended {
  readonly outcome: OutcomeKind;
  readonly executed: Executed;
  readonly error?: EventError;
}
interface Loop {
  readonly detector: string;
  readonly count: number;
}

export type BlockedBy = 'rule' | 'hook' | 'loop' | 'budget' | 'approval';
export type HookFailure = 'threw' | 'timed-out' | 'invalid-answer' | 'not-started' | 'exited';

/** Fields that an event can have in addition to its own. The subject is left out, because it can identify a person. */
export interface SharedFields {
  readonly stage?: Stage;
  readonly callId?: CallId;
  readonly attemptId?: AttemptId;
  readonly tool?: ToolId;
  readonly agent?: string;
  readonly tenant?: string;
  readonly session?: SessionId;
  readonly run?: RunId;
  readonly via?: CallVia | undefined;
  readonly trace?: TraceIds;
}

/** The interface through which a call came in; absent when it was made with the client library or by a tool. */
export type CallVia = 'mcp' | 'http';

/** Trace ids of the stage that the event is about. Events contain nothing else of a trace, because a tracestate can hold any text. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly sampled: boolean;
  /**
   * True if this process began the trace, because the call came without one. `parentSpanId` is then the span of the call as a whole, and no
   * caller reports that span.
   */
  readonly begins?: boolean;
}

interface EventHead<Kind extends EventKind> {
  readonly kind: Kind;
  /** Sequence number within this process. It grows by one with each event that has a listener. */
  readonly seq: number;
  /** Time by this process's clock, in milliseconds since 1970. For display only; no decision depends on it. */
  readonly at: number;
}

export type EventFacts<Kind extends EventKind> = DiagnosticEventMap[Kind] & SharedFields;
/** Any diagnostic event. Events are frozen recursively. */
export type DiagnosticEvent = { [Kind in EventKind]: EventHead<Kind> & EventFacts<Kind> }[EventKind];
export type DiagnosticEventOf<Kind extends EventKind> = Extract<DiagnosticEvent, { readonly kind: Kind }>;
