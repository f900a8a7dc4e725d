import type { Policy, PolicyRecord } from '../domain/policy.ts';

/** One versioned record for the whole deployment. */
export interface PolicyStore {
  readPolicy(): Promise<PolicyRecord>;
  /** The record if its version is above this one. Otherwise nothing but the version is read. */
  readNewerPolicy(request: { after: number }): Promise<PolicyRecord | undefined>;
  /** Compare-and-set. Returns only after every lane knows the new version. */
  writePolicy(request: { expectedVersion: number; policy: Policy }): Promise<WritePolicyAnswer>;
}

export type WritePolicyAnswer =
  | { readonly kind: 'written'; readonly version: number }
  | { readonly kind: 'conflict'; readonly version: number };
