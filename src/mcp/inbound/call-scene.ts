import type { InputRequiredResult, Result, ServerContext } from '@modelcontextprotocol/server';
import type { CallAnswer } from '../../client/call-answer.ts';
import type { ApprovalId } from '../../domain/approval.ts';
import type { CallId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { SessionHandle } from '../../domain/session.ts';
import type { CallUnderWay } from './call-under-way.ts';
import type { McpHome, McpPeer } from './mcp-home.ts';
import type { StateOwner } from './sealed-state.ts';

/** One request that comes to a call: who asks, in which session, and what their client can do. */
export interface CallScene {
  readonly home: McpHome;
  readonly peer: McpPeer;
  readonly session: SessionHandle;
  readonly ctx: ServerContext;
  /** Ends when the client has gone or cancels, and not when the request is simply over. */
  readonly signal: AbortSignal;
  readonly owner: StateOwner;
  /** The client was told of this call before, and comes to hear how it ended. Known when `begin` has its first answer. */
  comesBack(): boolean;
  /** Digest of the entry that this request holds, if it holds one. A client that shows a form brings it back with its answer. */
  owedDigest(): string | undefined;
  /** The client came back to this call with what it was given for that, and with `owedDigest`: from now on it waits here. */
  resumed(callId: CallId, digest: string | undefined): Promise<void>;
  /** What the client is told when the call goes on. */
  pending(at: { readonly callId: CallId; readonly approval?: ApprovalId }): Result;
  /** Makes the call; with input, once more, with what its tool asked for. */
  begin(input?: Answered): CallUnderWay;
  /** Makes the call anew if `begin` found an earlier one, and this is its outcome: its own request had called it off. */
  anew?(outcome: Outcome): Promise<CallUnderWay | undefined>;
}

/** What a tool gets to know with its next run. */
export interface Answered {
  readonly responses: JsonObject;
  readonly state?: string;
}

/** How far a call got in one request: to its end, or to what the client is told in the place of one. */
export type Pursued =
  | Exclude<CallAnswer, { readonly kind: 'pending' }>
  | {
      readonly kind: 'reply';
      readonly reply: Result | InputRequiredResult;
      /**
       * `come-back`: the client was told to call again. `form`: it shows its person a form, and comes back with that. `done`: it has
       * what it needs.
       */
      readonly next: 'come-back' | 'form' | 'done';
      /** The question that the call waits for. */
      readonly approval?: ApprovalId | undefined;
    };
