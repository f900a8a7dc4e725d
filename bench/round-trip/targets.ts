import type { VariantName } from './variants.ts';

interface Target {
  readonly target?: number;
}
interface Targets {
  readonly time: Target;
  readonly peer: Target;
  readonly naive: Target;
}

/**
 * Targets for a `read` tool on Redis with every guarantee on, by the number of calls in flight: time relative to bare streams, calls per
 * second relative to BullMQ and to the naive sequence.
 */
const OF_READ: Readonly<Record<number, readonly [time: number, peer: number, naive: number]>> = {
  1: [1.35, 3, 3],
  16: [1.15, 8, 3.5],
  128: [1.15, 12, 4],
  1024: [1.2, 7, 4],
};
const EMBEDDED_TO_PEER = 5;

export function targetsOf(variant: VariantName, concurrency: number): Targets {
  const found = variant === 'sallyport-read' ? OF_READ[concurrency] : undefined;
  if (found !== undefined)
    return { time: { target: found[0] }, peer: { target: found[1] }, naive: { target: found[2] } };
  return { time: {}, peer: variant === 'embedded' ? { target: EMBEDDED_TO_PEER } : {}, naive: {} };
}
