import type { Policy, PolicyRecord } from '../domain/policy.ts';

/** One versioned record for the whole deployment. */
export interface PolicyStore {
  readPolicy(): Promise<PolicyRecord>;
  /** Compare-and-set. Returns only after every lane knows the new version. */
  writePolicy(request: { expectedVersion: number; policy: Policy }): Promise<WritePolicyAnswer>;
}

export type WritePolicyAnswer =
  | { readonly kind: 'written'; readonly version: number }
  | { readonly kind: 'conflict'; readonly version: number };
