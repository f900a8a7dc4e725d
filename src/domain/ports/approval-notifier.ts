import type { Approval, ApprovalQuestion } from '../policy/approval.ts';

/** Notifies approvers of questions. Best effort: it never throws and callers do not wait for it; the question is stored in any case. */
export interface ApprovalNotifier {
  requested(asked: { readonly question: ApprovalQuestion; readonly expiresAt: number }): void;
  /** Called once per resolved approval, by the worker that claimed its callback in the store (`claimCallbacks`). */
  resolved(approval: Approval): void;
}
