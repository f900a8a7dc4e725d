// What the gate costs a call: in process, and as the difference between two planes that differ in nothing else. It may cost 25 µs of
// CPU and no trip to the store.
import { parseArgs } from 'node:util';
import { attemptOf, gate, type GatedCall, type Store } from 'sallyport/testing';
import { measureCpu } from './gate/measure-cpu.ts';
import { CLOSED_DOWN, GATED } from './gate/policies.ts';
import { sampleCall, sampleOutcome } from './gate/sample-call.ts';
import { median, shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';
import { openPair, type Measurement } from './round-trip/pair.ts';

const ALLOWED_US = 25;
const WARM_UP = { concurrency: 128, seconds: 10, maxCalls: 20_000 };

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '41' },
    runs: { type: 'string', default: '5000' },
    seconds: { type: 'string', default: '2' },
    repetitions: { type: 'string', default: '9' },
    'in-process': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const [rounds, runs, seconds, repetitions] = [values.rounds, values.runs, values.seconds, values.repetitions].map(
  Number,
);
if (![rounds, runs, seconds, repetitions].every((count) => count! > 0 && count! < 1e6)) {
  console.error(
    'npm run bench -- gate [--rounds 41] [--runs 5000] [--seconds 2] [--repetitions 9] [--in-process] [--json]',
  );
  process.exit(2);
}

/** Whoever asks it for anything has made a trip. */
const noStore = new Proxy({} as Store, {
  get(_, name): never {
    throw new Error(`the gate asked the store for ${String(name)}`);
  },
});
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const needs = { store: noStore, log: silent };

function pass(call: GatedCall): () => void {
  return () => {
    const verdict = gate(call, needs);
    // A promise would be a wait, an ending a call that did not pass.
    if (verdict instanceof Promise || verdict.kind !== 'allowed') throw new Error('the call did not pass at once');
  };
}

function sign(): () => void {
  const outcome = sampleOutcome();
  const { claimed, tool } = sampleCall(GATED, false);
  const facts = { tool: tool.declaration };
  return () => {
    if (attemptOf(claimed, outcome, facts).result === undefined) throw new Error('the result has no signature');
  };
}

function measureInProcess(): Record<string, number> {
  const us = measureCpu(
    {
      closed: pass(sampleCall(CLOSED_DOWN, false)),
      empty: pass(sampleCall(GATED, false)),
      full: pass(sampleCall(GATED, true)),
      signature: sign(),
    },
    { rounds: rounds!, runs: runs! },
  );
  return {
    'closed-down gate': us.closed,
    'three rules, no history': us.empty,
    'three rules, history of 128': us.full,
    'signature of a 200-byte result': us.signature,
    'a usual call: no history, signature': us.empty + us.signature,
    'a repeated call: history of 128, signature': us.full + us.signature,
  };
}

interface Turn {
  readonly gated: Measurement;
  readonly ungated: Measurement;
}

/** One after the other in each repetition, in turns first. */
async function measurePlanes(): Promise<Turn[]> {
  const pairs = { gated: await openPair('gated'), ungated: await openPair('ungated') };
  const turns: Turn[] = [];
  try {
    for (const pair of Object.values(pairs)) await pair.measure(WARM_UP);
    const load = { concurrency: 128, seconds: seconds!, maxCalls: 100_000 };
    for (let repetition = 0; repetition <= repetitions!; repetition += 1) {
      const order = repetition % 2 === 0 ? (['gated', 'ungated'] as const) : (['ungated', 'gated'] as const);
      const measured: Partial<Record<keyof Turn, Measurement>> = {};
      for (const name of order) measured[name] = await pairs[name].measure(load);
      const turn = measured as Turn;
      if (repetition > 0) turns.push(turn);
      process.stderr.write(
        `round ${repetition}/${repetitions}: worker ${shown(turn.gated.workerUs, 1)} and ${shown(turn.ungated.workerUs, 1)} µs per call\n`,
      );
    }
  } finally {
    for (const pair of Object.values(pairs)) await pair.close();
  }
  return turns;
}

const inProcess = measureInProcess();
const turns = values['in-process'] ? [] : await measurePlanes();
const middle = (pick: (turn: Turn) => number): number => median(turns.map(pick));
const planes = (['workerUs', 'callerUs', 'redisUs'] as const).map((name) => ({
  name: name.slice(0, -2),
  ratio: middle(({ gated, ungated }) => gated[name] / ungated[name]),
  differenceUs: middle(({ gated, ungated }) => gated[name] - ungated[name]),
  gatedUs: middle(({ gated }) => gated[name]),
  ungatedUs: middle(({ ungated }) => ungated[name]),
}));

if (values.json) console.log(JSON.stringify({ allowedUs: ALLOWED_US, inProcess, planes, turns }, null, 2));
else {
  const parts = Object.entries(inProcess).map(([name, us]) => [name, shown(us / ALLOWED_US, 3), shown(us, 2)]);
  console.log(formatTable(['CPU per call in process', `of ${ALLOWED_US} µs`, 'µs'], parts));
  const rows = planes.map(({ name, ratio, differenceUs, gatedUs, ungatedUs }) => [
    name,
    shown(ratio, 3),
    shown(differenceUs, 1),
    shown(gatedUs, 1),
    shown(ungatedUs, 1),
  ]);
  const header = ['CPU per call on a plane', 'with / without', 'difference µs', 'with gate µs', 'without µs'];
  if (turns.length > 0) console.log(`\n${formatTable(header, rows)}`);
}
