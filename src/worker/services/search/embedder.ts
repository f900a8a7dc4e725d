/** Turns texts into vectors. The service `models` is one; an operator's own service may be another. */
export interface Embedder {
  /** Name of the model. Vectors of different models are never compared. */
  readonly model: string;
  /** One vector per text, all of the same length. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly (readonly number[])[]>;
}
