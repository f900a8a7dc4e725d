import type { Administered } from '../identity/actor.ts';
import type { Policy, PolicyRecord } from '../policy/policy.ts';

/** The policy: one versioned record for the whole deployment. */
export interface PolicyStore extends PolicyWatch, PolicyWriter {}

/** Reads the policy. */
export interface PolicyReader {
  readPolicy(): Promise<PolicyRecord>;
}

/** Reads the policy again when it has changed, for workers and callers that keep a copy. */
export interface PolicyWatch {
  /** Returns the record if its version is above `after`; otherwise undefined, and the store reads only the version. */
  readNewerPolicy(request: { after: number }): Promise<PolicyRecord | undefined>;
}

/** Changes the policy, for operators. */
export interface PolicyWriter extends PolicyReader {
  /**
   * Compare-and-set, in one step with its audit record: if that cannot be written, the old policy stays. Returns only after every lane has
   * the new version.
   */
  writePolicy(request: WritePolicyRequest): Promise<WritePolicyAnswer>;
}

export interface WritePolicyRequest extends Administered {
  readonly expectedVersion: number;
  readonly policy: Policy;
}

export type WritePolicyAnswer =
  | { readonly kind: 'written'; readonly version: number }
  | { readonly kind: 'conflict'; readonly version: number };
