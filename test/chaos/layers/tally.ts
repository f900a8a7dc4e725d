import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LayerOptions, LayerResult } from '../../../chaos/layers/layer.ts';

const DETAILS_KEPT = 20;

/** Counts cases and keeps the details of the first violations. */
export class Tally implements LayerResult {
  tried = 0;
  violated = 0;
  readonly details: string[] = [];
  readonly #log: LayerOptions['log'];

  constructor({ log }: Pick<LayerOptions, 'log'>) {
    this.#log = log;
  }

  /** Runs one case. If it throws, that is a violation, reported with the title. */
  async attempt(title: string, run: () => Promise<void> | void): Promise<void> {
    this.tried += 1;
    // Native objects without references, such as connections to files, are released only between turns of the event loop.
    await nextTurn();
    try {
      await run();
    } catch (error) {
      this.violate(`${title}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  violate(detail: string): void {
    this.violated += 1;
    if (this.details.length < DETAILS_KEPT) this.details.push(detail);
    if (this.violated <= DETAILS_KEPT) this.#log(`VIOLATED ${detail}`);
  }

  result(): LayerResult {
    return { tried: this.tried, violated: this.violated, details: this.details };
  }
}

/** Runs `run` for each item, at most `width` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  run: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items].reverse();
  const lane = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await run(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
}
