/** The call that sealed arguments belong to. They cannot be opened as the arguments of another call, tool or digest. */
export interface SealBinding {
  readonly callId: string;
  readonly tool: string;
  /** SHA-256 of the arguments as canonical JSON. */
  readonly digest: string;
}

/** Encrypts arguments so that only the auditor can read them. Holds no private key. */
export interface ArgumentSealer {
  /** Throws when sealing fails; the call must not run then. */
  seal(canonical: string, binding: SealBinding): Uint8Array;
}
