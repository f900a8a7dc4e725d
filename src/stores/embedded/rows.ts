import type { ApprovalId, ApprovalState, CallbackState, GrantId, Resolution } from '../../domain/policy/approval.ts';
import type { CallState } from '../../domain/call/call.ts';
import type { RunId, SessionId, ToolId, WorkerId } from '../../domain/identity/ids.ts';
import type { Effect } from '../../domain/tool/tool.ts';

/** A row of `call`. The fields that the hot path changes are writable: they are changed here and in the file together; see `RowCache`. */
export interface CallRow {
  /** Assigned by SQLite at the insert; 0 before. */
  seq: number;
  readonly keyId: string;
  readonly generation: number;
  state: CallState;
  readonly session: SessionId;
  readonly run: RunId;
  readonly tool: ToolId;
  readonly pool: string;
  readonly bodyDigest: string;
  readonly identity: string;
  readonly epoch: number;
  readonly sessionExpiresAt: number;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly bytes: number;
  readonly waiters: string;
  readonly serial: number;
  readonly slot: string | null;
  readonly slotWindow: number;
  readonly holdsSlot: number;
  readonly entryId: number | null;
  owner: string | null;
  readonly base: number;
  deliveries: number;
  starts: number;
  startFence: number | null;
  effect: Effect | null;
  readonly cancelRequested: number;
  readonly handedBack: number;
  readonly settledAt: number | null;
  readonly releaseKey: number;
  readonly resolution: 'ran' | 'not-ran' | null;
  readonly abandonedFence: number | null;
  readonly sequence: number;
  readonly toolSequence: number;
  readonly approval: ApprovalId | null;
  readonly grantId: GrantId | null;
  /** Kept only until the first delivery, so that it need not be read back. Absent in rows that were read from the file. */
  envelope?: Uint8Array | null;
}

export interface ApprovalRow {
  readonly id: ApprovalId;
  readonly callSeq: number;
  readonly state: ApprovalState;
  readonly question: string;
  readonly fence: number;
  readonly askedBy: WorkerId;
  readonly mayHaveRun: number;
  readonly wantsCallback: number;
  readonly leftMs: number;
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly votes: string;
  /** JSON of Principal[]. */
  readonly revealedBy: string;
  readonly resolvedAt: number | null;
  readonly resolution: Resolution | null;
  readonly editedArguments: string | null;
  readonly grantId: GrantId | null;
  readonly callback: CallbackState;
  readonly claimedBy: WorkerId | null;
}

export interface GrantRow {
  readonly id: GrantId;
  readonly scope: string;
  readonly tool: ToolId;
  readonly facts: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usesLeft: number | null;
  readonly revoked: number;
  readonly keyId: string;
  readonly generation: number;
  readonly session: SessionId;
  readonly bodyDigest: string;
  readonly identity: string;
  readonly approval: ApprovalId;
  readonly run: RunId;
}

/** A row of `session`. `lastSeenAt` is changed here and in the file together; see `RowCache`. */
export interface SessionRow {
  readonly id: SessionId;
  readonly scope: string;
  readonly identity: string;
  readonly tokenHash: Uint8Array;
  readonly openedAt: number;
  readonly expiresAt: number;
  readonly idleMs: number;
  lastSeenAt: number;
  readonly revoked: number;
  /** JSON: a `LoopEnd` for each remembered run that loop detection ended, the latest last. */
  readonly loopEnds: string;
  /** JSON: a list of `Stall`, for calls in its runs that brought nothing new. */
  readonly stalls: string;
  readonly openedBy: string | null;
}

/** The run (null: unknown), when it ended, and the time from which its conversation may have a new run. */
export type LoopEnd = readonly [run: string | null, endedAt: number, opensAt: number];

export interface RunRow {
  readonly session: SessionId;
  readonly run: RunId;
  readonly startedAt: number;
  attempts: number;
  cost: number;
  readonly loopEnds: readonly number[];
}

export interface TokenRow {
  readonly id: string;
  readonly secretHash: Uint8Array;
  readonly facts: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | null;
}
