import type { Administered } from '../domain/actor.ts';
import type { Policy, PolicyRecord } from '../domain/policy.ts';

/** One versioned record for the whole deployment. */
export interface PolicyStore {
  readPolicy(): Promise<PolicyRecord>;
  /** The record if its version is above this one. Otherwise nothing but the version is read. */
  readNewerPolicy(request: { after: number }): Promise<PolicyRecord | undefined>;
  /**
   * Compare-and-set, in one step with its audit record: one that cannot be written leaves the old policy. Returns only after every lane
   * knows the new version.
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
