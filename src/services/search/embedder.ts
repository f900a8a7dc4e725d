/** Turns texts into vectors. `models` is one; an operator's own service may be another. */
export interface Embedder {
  /** Vectors of different models are never compared. */
  readonly model: string;
  /** One vector per text, all of the same length. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly (readonly number[])[]>;
}
