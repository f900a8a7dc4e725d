/** One deterministic set of cases which runs before the random faults. */
export interface Layer {
  readonly name: string;
  /** One sentence for `--help` and the report. */
  readonly about: string;
  run(options: LayerOptions): Promise<LayerResult>;
}

export interface LayerOptions {
  readonly store: 'redis' | 'embedded';
  /** True in `npm test`: fewer cases of the same kinds. */
  readonly short: boolean;
  log(line: string): void;
}

export interface LayerResult {
  readonly tried: number;
  readonly violated: number;
  /** One entry per violation: what was done, what was seen, what had to be seen. */
  readonly details: string[];
}
