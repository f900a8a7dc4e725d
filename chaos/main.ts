// `npm run chaos`: real processes, real stores, faults on a seeded schedule, and checks of what they left behind.
import { LAYERS } from './layers/index.ts';
import { parseOptions, USAGE, type ChaosOptions } from './options.ts';
import { createProgress } from './progress.ts';
import { formatResult, formatViolations, toJson, violatedCount } from './report.ts';
import { runSeed } from './run-seed.ts';
import type { StoreName } from './stage/stage.ts';

const stop = new AbortController();
let presses = 0;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    presses += 1;
    // The first signal ends everything in order; a second one exits at once. Children and folders are removed with this process in any
    // case.
    if (presses > 1) process.exit(130);
    stop.abort();
  });
}

interface Totals {
  violated: number;
  runs: number;
  calls: number;
  faults: number;
  readonly json: object[];
}

async function runLayers(options: ChaosOptions, store: StoreName, totals: Totals): Promise<void> {
  const progress = createProgress(options.json);
  for (const layer of LAYERS.filter(({ name }) => options.layers.includes(name))) {
    if (stop.signal.aborted) return;
    const startedAt = performance.now();
    const { tried, violated, details } = await layer.run({
      store,
      short: false,
      log: (line) => progress.show(`${store}, ${layer.name}: ${line}`),
    });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    progress.clear();
    totals.violated += violated;
    totals.json.push({ store, layer: layer.name, seconds, tried, violated, details });
    const mark = violated === 0 ? ' ' : '!';
    progress.say(
      `${mark} ${store}, ${layer.name}: tried ${tried}, violated ${violated}, ${seconds} s   ${layer.about}`,
    );
    for (const detail of details.slice(0, 20)) progress.say(`    ${detail}`);
  }
}

async function runStore(options: ChaosOptions, store: StoreName, seed: number, totals: Totals): Promise<void> {
  const progress = createProgress(options.json);
  const { calls, faults } = options;
  const result = await runSeed({
    store,
    seed,
    calls,
    faults,
    ...(options.keepIn === undefined ? {} : { keepIn: options.keepIn }),
    signal: stop.signal,
    progress: (line) => progress.show(`${store}, seed ${seed}: ${line}`),
  });
  progress.clear();
  const violated = violatedCount(result);
  totals.violated += violated;
  totals.runs += 1;
  totals.calls += result.traces.history.calls.length;
  totals.faults += result.traces.history.faults.length;
  totals.json.push(toJson(result));
  progress.say(`\n${formatResult(result)}`);
  if (violated > 0) progress.say(`\n${formatViolations(result)}`);
}

async function run(options: ChaosOptions): Promise<number> {
  const totals: Totals = { violated: 0, runs: 0, calls: 0, faults: 0, json: [] };
  try {
    for (const store of options.stores) await runLayers(options, store, totals);
    for (const seed of options.seeds) {
      for (const store of options.stores) {
        if (!stop.signal.aborted) await runStore(options, store, seed, totals);
      }
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  }
  if (options.json) console.log(JSON.stringify(totals.json, null, 2));
  else {
    const { runs, calls, faults, violated } = totals;
    console.log(`\n${runs} runs, ${calls} calls, ${faults} faults, ${violated} violations`);
  }
  if (stop.signal.aborted) return 130;
  return totals.violated === 0 ? 0 : 1;
}

let options: ChaosOptions | 'help' | undefined;
try {
  options = parseOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  process.exitCode = 2;
}
if (options === 'help') console.log(USAGE);
else if (options !== undefined) process.exit(await run(options));
