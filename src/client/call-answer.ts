import type { ApprovalId } from '../domain/approval.ts';
import type { CallEvent } from '../domain/call-event.ts';
import type { CallVia } from '../domain/diagnostic-event.ts';
import type { CallId } from '../domain/ids.ts';
import type { InputKind, RequiredInput } from '../domain/input.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { RedirectTarget } from './redirect.ts';

/** How a call stands. `refused` was never accepted and left no trace; `pending` goes on and can be asked for by its id. */
export type CallAnswer =
  | {
      readonly kind: 'settled';
      readonly callId: CallId;
      readonly outcome: Outcome;
      /** Present when the tool asks for something first: make a new call with `input`. */
      readonly input?: RequiredInput;
    }
  | { readonly kind: 'refused'; readonly outcome: Outcome }
  /** With the approval, if a person is being asked about it. */
  | { readonly kind: 'pending'; readonly callId: CallId; readonly approval?: ApprovalId };

export interface CallOptions {
  /** The same key with the same arguments is the same call. Minted if absent. */
  readonly key?: string;
  /** When the call ends, counted from its acceptance. */
  readonly deadlineMs?: number;
  /** How long to wait here before the answer is `pending`. Default: the tool's own. */
  readonly waitMs?: number;
  /**
   * If nobody got the outcome within `waitMs`, because it took longer or because this process is gone, it is sent to this channel:
   * `{}` means where the session is. It is written down before the waiting starts.
   */
  readonly redirect?: RedirectTarget;
  /** Aborting cancels the call. */
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: CallEvent) => void;
  /** Answers to what the tool asked for, and what this caller can be asked for. */
  readonly input?: CallInput;
  /** Display name, message id, room context: reaches the tool marked as untrusted. */
  readonly untrusted?: JsonObject;
  /** W3C traceparent. A malformed one is dropped, and a new trace begins. */
  readonly trace?: string;
  /** W3C tracestate; only with `trace`. */
  readonly traceState?: string;
  /** For events and spans: the door the call came in by. */
  readonly via?: CallVia;
}

/** What a call brings along for its tool. */
export interface CallInput {
  /** What this caller can be asked for. A tool that needs anything else ends INPUT_UNAVAILABLE; absent: it may ask for everything. */
  readonly kinds?: readonly InputKind[];
  /** By the names of the requests. */
  readonly responses?: JsonObject;
  /** As it was given. */
  readonly state?: string;
  /**
   * Instead of `state`: the call that asked, of the same session and tool. Its state is read from the store, so it cannot be changed on
   * its way through somebody else's hands.
   */
  readonly of?: string;
}

export function settledAnswer(callId: CallId, outcome: Outcome): CallAnswer {
  if (outcome.error?.code !== 'INPUT_REQUIRED') return { kind: 'settled', callId, outcome };
  const { requests = {}, state, problems } = (outcome.error.facts ?? {}) as unknown as Partial<RequiredInput>;
  const more = { ...(state === undefined ? {} : { state }), ...(problems === undefined ? {} : { problems }) };
  return { kind: 'settled', callId, outcome, input: { requests, ...more } };
}
