import type { ApprovalId } from '../domain/policy/approval.ts';
import type { CallEvent } from '../domain/call/call-event.ts';
import type { CallVia } from '../domain/events/diagnostic-event.ts';
import type { CallId } from '../domain/identity/ids.ts';
import type { InputKind, RequiredInput } from '../domain/call/input.ts';
import type { JsonObject } from '../base/json.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import type { RedirectTarget } from './redirect.ts';

/**
 * The state of a call. A `refused` call was never accepted and left nothing in the store. A `pending` call continues; its result can be
 * read later by its id.
 */
export type CallAnswer =
  | {
      readonly kind: 'settled';
      readonly callId: CallId;
      readonly outcome: Outcome;
      /** Present when the tool needs input from the caller first: make a new call with `input`. */
      readonly input?: RequiredInput;
    }
  | { readonly kind: 'refused'; readonly outcome: Outcome }
  /** `approval` is set if a person is being asked about the call. */
  | { readonly kind: 'pending'; readonly callId: CallId; readonly approval?: ApprovalId };

export interface CallOptions {
  /** Idempotency key: the same key with the same arguments is the same call. Generated if absent. */
  readonly key?: string;
  /** Deadline of the call, in milliseconds from its acceptance. */
  readonly deadlineMs?: number;
  /** How long to wait here before the answer is `pending`. Default: the tool's own `waitMs`. */
  readonly waitMs?: number;
  /**
   * If no caller received the outcome within `waitMs`, because the call took longer or this process died, the outcome is sent to this
   * channel. `{}` means the session's own channel. The redirect is stored before the wait starts.
   */
  readonly redirect?: RedirectTarget;
  /** Aborting cancels the call. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: CallEvent) => void;
  /** Answers to what the tool asked for, and the kinds of input that this caller can be asked for. */
  readonly input?: CallInput;
  /** Display name, message id, room context. It reaches the tool marked as untrusted. */
  readonly untrusted?: JsonObject;
  /** W3C traceparent. A malformed value is dropped, and a new trace starts. */
  readonly trace?: string;
  /** W3C tracestate; used only together with `trace`. */
  readonly traceState?: string;
  /** The entry point that the call came through, for events and spans. */
  readonly via?: CallVia;
}

/** The input that a call carries for its tool. */
export interface CallInput {
  /**
   * The kinds of input that this caller can be asked for. A tool that needs another kind ends with INPUT_UNAVAILABLE. Absent: it may ask
   * for any kind.
   */
  readonly kinds?: readonly InputKind[];
  /** Responses, keyed by the names of the tool's input requests. */
  readonly responses?: JsonObject;
  /** The `input.state` of the answer that asked for input, unchanged. */
  readonly state?: string;
  /**
   * Use instead of `state`: the id of the call that asked for input, from the same session and tool. The state is then read from the store,
   * so no intermediary can change it on the way.
   */
  readonly of?: string;
}

export function settledAnswer(callId: CallId, outcome: Outcome): CallAnswer {
  if (outcome.error?.code !== 'INPUT_REQUIRED') return { kind: 'settled', callId, outcome };
  const { requests = {}, state, problems } = (outcome.error.facts ?? {}) as unknown as Partial<RequiredInput>;
  const more = { ...(state === undefined ? {} : { state }), ...(problems === undefined ? {} : { problems }) };
  return { kind: 'settled', callId, outcome, input: { requests, ...more } };
}
