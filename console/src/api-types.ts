import type { ApprovalDecision, ApprovalState, Asker, Resolution, Severity, Vote } from '../../src/domain/approval.ts';
import type { TokenScope } from '../../src/domain/gateway-token.ts';
import type { Executed, OutcomeKind } from '../../src/domain/outcome.ts';
import type { Stage } from '../../src/domain/stages.ts';

export type { ApprovalDecision, ApprovalState, Executed, OutcomeKind, Severity, Stage };

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly fix?: string;
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly retryAfterMs?: number;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next?: string;
}

export interface Me {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  readonly expiresAt: number;
  readonly gatewayId: string;
  readonly release: string;
}

export type CallState = 'queued' | 'running' | 'parked' | 'settled';

export interface CallRow {
  readonly callId: string;
  readonly tool: string;
  readonly agent: string;
  readonly subject: string;
  readonly tenant: string;
  readonly session?: string;
  readonly state: CallState;
  readonly outcome?: OutcomeKind;
  readonly code?: string;
  readonly executed?: Executed;
  readonly acceptedAt?: number;
  readonly settledAt?: number;
  readonly durationMs?: number;
  readonly approval?: string;
  readonly detector?: string;
  readonly rule?: string;
}

export interface ApprovalView {
  readonly id: string;
  readonly callId: string;
  readonly state: ApprovalState;
  readonly tool: string;
  readonly toolDigest: string;
  readonly agent: string;
  readonly subject: string;
  readonly tenant: string;
  readonly session: string;
  readonly run: string;
  readonly title: string;
  readonly description: string;
  readonly reasons: readonly string[];
  readonly severity: Severity;
  readonly askers: readonly Asker[];
  readonly detail?: string;
  readonly decisions: readonly ApprovalDecision[];
  readonly quorum: number;
  readonly votes: readonly Vote[];
  readonly requestedAt: number;
  readonly expiresAt: number;
  readonly resolvedAt?: number;
  readonly resolution?: Resolution;
  readonly arguments: ShownArguments;
  readonly binding: string;
  readonly editable: boolean;
  readonly grant?: string;
}

export interface ShownArguments {
  readonly shown: string;
  readonly bytes: number;
  readonly digest: string;
  readonly redacted: boolean;
  readonly changedBy?: readonly unknown[];
}
