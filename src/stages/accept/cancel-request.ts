import type { CancelledBy } from '../../domain/call/cancelled-by.ts';
import type { PublishedTool } from '../../domain/tool/catalog.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { CallId, ToolId } from '../../domain/identity/ids.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import type { CallReader } from '../../domain/ports/call-store.ts';
import type { CancelRequest } from '../../domain/ports/call-requests.ts';
import { encode } from '../../base/message-pack.ts';
import { encodeOutcome } from '../../domain/outcome/outcome-bytes.ts';

/**
 * Finds the `unsafeDigest` of a cancel request when only the call's id is known. With it, the store knows that a held call of an unsafe
 * tool without a start mark has not run.
 */
export async function unsafeDigestOf(
  callId: CallId,
  store: CallReader,
  findTool: (tool: ToolId) => MaybePromise<PublishedTool | undefined>,
): Promise<{ readonly unsafeDigest?: string }> {
  const record = await store.readCall(callId);
  if (record === undefined || record.outcome !== undefined) return {};
  return unsafeDigest((await findTool(record.tool))?.tool);
}

export function unsafeDigest(tool: ToolDeclaration | undefined): { readonly unsafeDigest?: string } {
  return tool?.effect === 'unsafe' ? { unsafeDigest: tool.digest } : {};
}

/** `by` goes into the outcome and says only the role. `name` goes into the audit and names the individual, for example `operator ada`. */
export function cancelRequest(
  callId: CallId,
  retentionMs: number,
  by: CancelledBy,
  name: string = by === 'request' ? 'caller' : by,
): CancelRequest {
  return {
    callId,
    outcome: encodeOutcome(errorOutcome('CALL_CANCELLED', { by })),
    outcomeIfHeld: encodeOutcome(errorOutcome('CALL_CANCELLED', { by }, { executed: 'unknown' })),
    outcomeIfParked: encodeOutcome(errorOutcome('APPROVAL_ABORTED', { by })),
    audit: encode({ outcome: 'cancelled', by: name }),
    retentionMs,
  };
}
