import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { toCount, toCounts, toNames, toNumber } from '../harness/options.ts';
import { VARIANT_NAMES, VARIANTS, type VariantName } from './variants.ts';

export interface BenchOptions {
  readonly variants: readonly VariantName[];
  readonly concurrencies: readonly number[];
  readonly seconds: number;
  readonly maxCalls: number;
  readonly repetitions: number;
  readonly warmUpCalls: number;
  readonly profileFolder?: string;
  /** A built checkout of another commit. Its planes take turns with those of this one. */
  readonly againstFolder?: string;
}

export const USAGE = `npm run bench -- round-trip [options]
  --variants a,b        of ${VARIANT_NAMES.join(', ')} (default all of these),
                        and gated, ungated, counted, traced, sampled
  --concurrency 1,16    calls in flight (default 1,16,128,1024)
  --seconds 2           per cell (default 2)
  --calls 100000        at most so many per cell (default 100000)
  --repetitions 5       of the whole round (default 5)
  --against FOLDER      measures the planes of another built checkout in the same run, as NAME@against
  --profile FOLDER      writes a CPU profile of every process there
  --warm-up 20000       calls of every variant that do not count (default 20000)
  --json                the report as JSON`;

/** Throws a UsageProblem if an argument is wrong. */
export function parseOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      variants: { type: 'string', default: VARIANT_NAMES.join(',') },
      concurrency: { type: 'string', default: '1,16,128,1024' },
      seconds: { type: 'string', default: '2' },
      calls: { type: 'string', default: '100000' },
      repetitions: { type: 'string', default: '5' },
      'warm-up': { type: 'string', default: '20000' },
      profile: { type: 'string' },
      against: { type: 'string' },
    },
  });
  return {
    variants: toNames('--variants', values.variants, Object.keys(VARIANTS) as VariantName[]),
    concurrencies: toCounts('--concurrency', values.concurrency),
    seconds: toNumber('--seconds', values.seconds),
    maxCalls: toCount('--calls', values.calls),
    repetitions: toCount('--repetitions', values.repetitions),
    warmUpCalls: toCount('--warm-up', values['warm-up']),
    ...(values.profile === undefined ? {} : { profileFolder: values.profile }),
    ...(values.against === undefined ? {} : { againstFolder: resolve(values.against) }),
  };
}
