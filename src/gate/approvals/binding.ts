import type { ApprovalQuestion, Asker } from '../../domain/approval.ts';
import { canonicalJson } from '../../wire/canonical-json.ts';
import { sha256 } from '../../wire/digest.ts';

export interface BoundParts extends Pick<ApprovalQuestion, 'tool' | 'toolDigest' | 'arguments' | 'session'> {
  readonly askers: readonly Pick<Asker, 'kind' | 'id' | 'digest'>[];
  readonly salt?: string;
}

/** Changes when what is bound does. */
const VERSION = 1;

/**
 * What an approver agrees to, as one digest: this tool as it was shown, these bytes, for this session, because these asked. If any of
 * them is another when the call is about to run, it is another question. The order of the askers means nothing.
 */
export function bindingOf({ tool, toolDigest, arguments: args, session, askers, salt }: BoundParts): string {
  const asked = askers.map(({ kind, id, digest }) => canonicalJson({ kind, id, digest })).sort();
  const parts = { version: VERSION, tool, toolDigest, arguments: args, session, askers: asked };
  return sha256(canonicalJson(salt === undefined ? parts : { ...parts, salt }));
}

/** Of canonical JSON. */
export function argumentsDigest(canonicalArguments: string): string {
  return sha256(canonicalArguments);
}
