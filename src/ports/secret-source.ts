import type { StopSignal } from './tool-runner.ts';

/** Where secrets come from. Only runners ask for values, and only for calls that were let through. */
export interface SecretSource {
  /** Whether a provider is there for this name. Asks nobody outside. */
  knows(name: string): boolean;
  read(name: string, signal: StopSignal): Promise<ReadSecret>;
}

/** The problem is for the caller too: it never quotes what was read. */
export type ReadSecret =
  | { readonly kind: 'read'; readonly value: string }
  | { readonly kind: 'problem'; readonly problem: string };
