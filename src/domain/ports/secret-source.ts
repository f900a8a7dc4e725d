import type { StopSignal } from './tool-runner.ts';

/** The source of secrets. Only runners read values, and only for calls that the gate allowed. */
export interface SecretSource {
  /** Whether there is a provider for this name. Makes no external request. */
  knows(name: string): boolean;
  read(name: string, signal: StopSignal): Promise<ReadSecret>;
}

/** The caller also sees `problem`, so it never quotes what was read. */
export type ReadSecret =
  | { readonly kind: 'read'; readonly value: string }
  | { readonly kind: 'problem'; readonly problem: string };
