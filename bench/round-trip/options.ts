import { parseArgs } from 'node:util';
import { VARIANT_NAMES, VARIANTS, type VariantName } from './variants.ts';

export interface BenchOptions {
  readonly variants: readonly VariantName[];
  readonly concurrencies: readonly number[];
  readonly seconds: number;
  readonly maxCalls: number;
  readonly repetitions: number;
  readonly json: boolean;
  readonly profileFolder?: string;
}

export const USAGE = `npm run bench -- round-trip [options]
  --variants a,b        of ${VARIANT_NAMES.join(', ')} (default all of these),
                        and gated, ungated, counted, traced, sampled
  --concurrency 1,16    calls in flight (default 1,16,128,1024)
  --seconds 2           per cell (default 2)
  --calls 100000        at most so many per cell (default 100000)
  --repetitions 5       of the whole round (default 5)
  --profile FOLDER      writes a CPU profile of every process there
  --json                every measurement as JSON instead of tables`;

/** Throws an Error with a message for the user. */
export function parseOptions(args: string[]): BenchOptions {
  const { values } = parseArgs({
    args,
    options: {
      variants: { type: 'string', default: VARIANT_NAMES.join(',') },
      concurrency: { type: 'string', default: '1,16,128,1024' },
      seconds: { type: 'string', default: '2' },
      calls: { type: 'string', default: '100000' },
      repetitions: { type: 'string', default: '5' },
      profile: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    variants: values.variants.split(',').map(toVariant),
    concurrencies: values.concurrency.split(',').map((text) => toCount('--concurrency', text)),
    seconds: toNumber('--seconds', values.seconds),
    maxCalls: toCount('--calls', values.calls),
    repetitions: toCount('--repetitions', values.repetitions),
    json: values.json,
    ...(values.profile === undefined ? {} : { profileFolder: values.profile }),
  };
}

function toVariant(text: string): VariantName {
  const all = Object.keys(VARIANTS) as VariantName[];
  const found = all.find((name) => name === text);
  if (found === undefined) throw new Error(`There is no variant "${text}". There are: ${all.join(', ')}.`);
  return found;
}

function toNumber(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < 1e9)) throw new Error(`${option} needs a number above 0, not "${text}".`);
  return value;
}

function toCount(option: string, text: string): number {
  const value = toNumber(option, text);
  if (!Number.isInteger(value)) throw new Error(`${option} needs a whole number, not "${text}".`);
  return value;
}
