import type { ApprovalId } from '../domain/policy/approval.ts';
import type { CallRecord } from '../domain/call/call.ts';
import type { CallId } from '../domain/identity/ids.ts';
import type { CallReader } from '../domain/ports/call-store.ts';
import { decodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import { pause } from '../base/pause.ts';

/** What became of the arguments that an approver edited. A worker checks them only when it takes the call again, after the decision. */
export type EditResult =
  /** The call runs with them, or has run. */
  | { readonly kind: 'used' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }
  /** The tool's schema changed the arguments, so a new question asks approvers about the result. */
  | { readonly kind: 'asked-again'; readonly approval: ApprovalId }
  /** No worker has taken the call yet. */
  | { readonly kind: 'open' };

const FIRST_MS = 25;
const MAX_PAUSE_MS = 500;
const TIMEOUT_MS = 3000;

export async function followEdit(
  store: CallReader,
  { callId, decided }: { readonly callId: CallId; readonly decided: ApprovalId },
  timeoutMs: number = TIMEOUT_MS,
): Promise<EditResult> {
  const giveUpAt = performance.now() + timeoutMs;
  for (let pauseMs = FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    const record = await store.readCall(callId);
    const result = record === undefined ? undefined : resultOf(record, decided);
    if (result !== undefined) return result;
    const leftMs = giveUpAt - performance.now();
    if (leftMs <= 0) return { kind: 'open' };
    await pause(Math.min(pauseMs, leftMs));
  }
}

function resultOf({ state, approval, outcome }: CallRecord, decided: ApprovalId): EditResult | undefined {
  if (state === 'parked' && approval !== undefined && approval !== decided) return { kind: 'asked-again', approval };
  if (state === 'running') return { kind: 'used' };
  if (state !== 'settled' || outcome === undefined) return undefined;
  const { executed, error } = decodeOutcome(outcome);
  if (executed !== 'no' || error === undefined) return { kind: 'used' };
  return { kind: 'refused', code: error.code, message: error.message };
}
