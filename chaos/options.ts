import { parseArgs } from 'node:util';
import { LAYERS } from './layers/index.ts';
import type { StoreName } from './stage/stage.ts';

export interface ChaosOptions {
  readonly stores: readonly StoreName[];
  readonly seeds: readonly number[];
  readonly calls: number;
  readonly faults: number;
  readonly layers: readonly string[];
  readonly json: boolean;
  readonly keepIn?: string;
}

const STORES = ['redis', 'embedded'] as const;

export const USAGE = `npm run chaos [-- options]

Runs Sallyport with real processes and a real store, kills and stops everything on a seeded schedule, and checks what is left.

  --seed 1                  fixes the calls and the faults (default 1)
  --seeds 50                so many runs, from --seed on (default 1)
  --calls 2000              tool calls per run (default 2000)
  --faults 40               faults per run (default 40)
  --store redis|embedded    (default both)
  --layers none|all|a,b     deterministic cases that run first (default all)${LAYERS.length === 0 ? '' : `:\n${listLayers()}`}
  --keep FOLDER             copies what each run wrote down there: effect log, journals, worker log
  --json                    the result as JSON on stdout, progress on stderr
  --help                    this text

Exit code: 0 nothing violated, 1 something was, 2 wrong options.`;

function listLayers(): string {
  return LAYERS.map(({ name, about }) => `                              ${name}: ${about}`).join('\n');
}

/** Throws an Error whose message is for the user. */
export function parseOptions(args: readonly string[]): ChaosOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    strict: true,
    allowPositionals: false,
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      calls: { type: 'string', default: '2000' },
      faults: { type: 'string', default: '40' },
      store: { type: 'string', default: 'both' },
      layers: { type: 'string', default: 'all' },
      keep: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const first = toCount('--seed', values.seed, 0, 1_000_000_000);
  const seeds = toCount('--seeds', values.seeds, 1, 1000);
  return {
    stores: toStores(values.store),
    seeds: Array.from({ length: seeds }, (_, index) => first + index),
    calls: toCount('--calls', values.calls, 20, 1_000_000),
    faults: toCount('--faults', values.faults, 0, 100_000),
    layers: toLayers(values.layers),
    json: values.json,
    ...(values.keep === undefined ? {} : { keepIn: values.keep }),
  };
}

function toStores(text: string): readonly StoreName[] {
  if (text === 'both') return STORES;
  const found = STORES.find((name) => name === text);
  if (found === undefined) throw new Error(`--store is redis, embedded or both, not "${text}".`);
  return [found];
}

function toLayers(text: string): readonly string[] {
  const names = LAYERS.map(({ name }) => name);
  if (text === 'all') return names;
  if (text === 'none') return [];
  const wanted = text.split(',');
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown === undefined) return wanted;
  throw new Error(`There is no layer "${unknown}". There are: ${names.join(', ') || 'none yet'}.`);
}

function toCount(option: string, text: string, from: number, to: number): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= from && value <= to) return value;
  throw new Error(`${option} needs a whole number from ${from} to ${to}, not "${text}".`);
}
