/** A deterministic set of cases that runs before the random faults. */
export interface Layer {
  readonly name: string;
  /** One sentence for `--help` and the report. */
  readonly about: string;
  run(options: LayerOptions): Promise<LayerResult>;
}

export interface LayerOptions {
  readonly store: 'redis' | 'embedded';
  /** True in `npm test`, which runs fewer cases of the same kinds. */
  readonly short: boolean;
  log(line: string): void;
}

export interface LayerResult {
  readonly tried: number;
  readonly violated: number;
  /** One entry per violation: what was done, what was observed, and what was expected. */
  readonly details: string[];
}
