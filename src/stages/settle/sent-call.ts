import type { Delivery } from '../../domain/ports/call-requests.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { decodeEnvelope } from '../../domain/call/envelope.ts';

/** The envelope's part of an audit record. */
export interface SentCall {
  /** Canonical JSON. */
  readonly arguments: string;
  readonly toolDigest: string;
  readonly parent?: string | undefined;
  /** W3C traceparent. */
  readonly trace?: string | undefined;
}

interface SentFacts {
  readonly sent?: SentCall;
  /** The declaration that says which of the arguments are secret. Absent: which ones are secret is unknown, and no value may be shown. */
  readonly tool?: ToolDeclaration;
}

/**
 * Reads the envelope of a call that ended before or in the stage identify, and finds its tool by id and digest. Which arguments are secret
 * is decided by the definition that the caller used; one with another digest may have another schema. Empty if the envelope cannot be read.
 */
export function readSent({ envelope, tool }: Delivery, { tools }: Pick<Plane, 'tools'>): SentFacts {
  const decoded = envelope.length === 0 ? undefined : decodeEnvelope(envelope);
  if (decoded?.kind !== 'envelope') return {};
  const sent = decoded.envelope;
  const declaration = sent.tool === tool ? tools().find(tool)?.declaration : undefined;
  return declaration?.digest === sent.toolDigest ? { sent, tool: declaration } : { sent };
}
