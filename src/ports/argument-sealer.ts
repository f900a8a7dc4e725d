/** What sealed arguments belong to. They cannot be opened as those of another call, tool or digest. */
export interface SealBinding {
  readonly callId: string;
  readonly tool: string;
  /** SHA-256 of the arguments, as canonical JSON. */
  readonly digest: string;
}

/** Closes arguments so that only the auditor can read them. Holds no private key. */
export interface ArgumentSealer {
  /** Throws when it cannot: then nothing may run. */
  seal(canonical: string, binding: SealBinding): Uint8Array;
}
