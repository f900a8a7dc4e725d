import type { ApprovalId } from '../domain/approval.ts';
import type { CallEvent } from '../domain/call-event.ts';
import type { CallVia } from '../domain/diagnostic-event.ts';
import type { CallId } from '../domain/ids.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { RedirectTarget } from './redirect.ts';

/** How a call stands. `refused` was never accepted and left no trace; `pending` goes on and can be asked for by its id. */
export type CallAnswer =
  | { readonly kind: 'settled'; readonly callId: CallId; readonly outcome: Outcome }
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
  /** Display name, message id, room context: reaches the tool marked as untrusted. */
  readonly untrusted?: JsonObject;
  /** W3C traceparent. A malformed one is dropped, and a new trace begins. */
  readonly trace?: string;
  /** W3C tracestate; only with `trace`. */
  readonly traceState?: string;
  /** For events and spans: the door the call came in by. */
  readonly via?: CallVia;
}
