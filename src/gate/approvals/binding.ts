import type { ApprovalQuestion, Asker } from '../../domain/policy/approval.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';

export interface BoundParts extends Pick<ApprovalQuestion, 'tool' | 'toolDigest' | 'arguments' | 'session'> {
  readonly askers: readonly Pick<Asker, 'kind' | 'id' | 'digest'>[];
  readonly salt?: string;
}

/** Increase this number whenever the set of bound parts changes. */
const VERSION = 1;

/**
 * One digest of what an approver agrees to: this tool as it was shown, these argument bytes, this session, and the rules and hooks that
 * asked. If any of them differs when the call is about to run, the approval does not apply. The order of the askers does not matter.
 */
export function bindingOf({ tool, toolDigest, arguments: args, session, askers, salt }: BoundParts): string {
  const asked = askers.map(({ kind, id, digest }) => canonicalJson({ kind, id, digest })).sort();
  const parts = { version: VERSION, tool, toolDigest, arguments: args, session, askers: asked };
  return sha256(canonicalJson(salt === undefined ? parts : { ...parts, salt }));
}

/** SHA-256 of arguments in canonical JSON. */
export function argumentsDigest(canonicalArguments: string): string {
  return sha256(canonicalArguments);
}
