import type { InputRequiredResult, Result, ServerContext } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../client/call-answer.ts';
import type { ApprovalId } from '../../domain/policy/approval.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { SessionHandle } from '../../domain/identity/session.ts';
import type { CallUnderWay } from './call-under-way.ts';
import type { McpShared, McpPeer } from './mcp-shared.ts';
import type { StateOwner } from './sealed-state.ts';

/** One request that leads to a call: the peer, its session, and what its client can do. */
export interface McpCallContext {
  readonly shared: McpShared;
  readonly peer: McpPeer;
  readonly session: SessionHandle;
  readonly ctx: ServerContext;
  /** Aborted when the client has gone or cancels, but not when the request is simply over. */
  readonly signal: AbortSignal;
  readonly owner: StateOwner;
  /** Whether the client comes back with this request for a call that an earlier request made. Known once `begin` has its first answer. */
  comesBack(): boolean;
  /** Digest of the entry that this request holds among the calls owed, if any. A client that shows a form gets it in its sealed state. */
  owedDigest(): string | undefined;
  /**
   * Called when a client comes back to this call with its sealed state, which contains `owedDigest`. This request now holds the call's
   * entry.
   */
  resumed(callId: CallId, digest: string | undefined): Promise<void>;
  /** The reply for a call that has no outcome yet. */
  pending(at: { readonly callId: CallId; readonly approval?: ApprovalId }): Result;
  /** Makes the call. With `input`, makes the call again, and gives the tool the input that it asked for. */
  begin(input?: Answered): CallUnderWay;
  /**
   * Called with the outcome of an earlier call that `begin` took. If the request that made that call cancelled it before it ran, makes a
   * new call.
   */
  anew?(outcome: Outcome): Promise<CallUnderWay | undefined>;
}

/** The input that a tool gets in its next run. */
export interface Answered {
  readonly responses: JsonObject;
  readonly state?: string;
}

/** How far a call got in one request: to its outcome, or to a reply that the client gets instead of one. */
export type Pursued =
  | Exclude<CallAnswer, { readonly kind: 'pending' }>
  | {
      readonly kind: 'reply';
      readonly reply: Result | InputRequiredResult;
      /**
       * `come-back`: the reply asks the client to call again. `form`: the client shows its person a form and comes back with the answer.
       * `done`: the reply is a task or the input requests of the tool, and the client need not come back for this call.
       */
      readonly next: 'come-back' | 'form' | 'done';
      /** The question that the call is waiting for. */
      readonly approval?: ApprovalId | undefined;
    };
