import type { Approval, ApprovalQuestion } from '../domain/approval.ts';

/** Tells those who may decide. Best effort: it never throws and nobody waits for it; the question stands in the store. */
export interface ApprovalNotifier {
  requested(asked: { readonly question: ApprovalQuestion; readonly expiresAt: number }): void;
  /** Whoever claimed the callback in the store says so, once. */
  resolved(approval: Approval): void;
}
