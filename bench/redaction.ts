// Measures what redaction costs a call: it checks the arguments of every call, and most of them contain no secret. Checking 200 characters
// without a secret may cost 1 µs.
import { parseArgs } from 'node:util';
import { createRedactor, newRedactionKey } from 'sallyport/testing';
import { measureCpu } from './gate/measure-cpu.ts';
import { explainUsage } from './harness/explain-usage.ts';
import { shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';

const ALLOWED_US = 1;
const USAGE = 'npm run bench -- redaction [--rounds 41] [--runs 5000]';
const { values } = explainUsage(USAGE, () =>
  parseArgs({
    options: { rounds: { type: 'string', default: '41' }, runs: { type: 'string', default: '5000' } },
  }),
);
const [rounds, runs] = [Number(values.rounds), Number(values.runs)];
if (!(rounds > 0 && rounds < 1e6 && runs > 0 && runs < 1e6)) {
  console.error(USAGE);
  process.exit(2);
}

const redactor = createRedactor(newRedactionKey());
const words = 'the quick brown fox jumps over one lazy dog and goes home again while all others look on in wonder ';
const filled = (object: Record<string, unknown>, length: number): string => {
  const bare = JSON.stringify({ ...object, text: '' }).length;
  return JSON.stringify({ ...object, text: words.repeat(20).slice(0, length - bare) });
};
const TEXTS = {
  'nothing secret, 200 characters': filled({ page: 3, query: 'weather in Oslo' }, 200),
  'nothing secret, 2,000 characters': filled({ page: 3, query: 'weather in Oslo' }, 2000),
  'an address, 200 characters': filled({ url: 'https://example.com/a/b?c=d' }, 200),
  'words that look secret, 200 characters': filled({ max_tokens: 100, author: 'ann' }, 200),
  'one secret, 200 characters': filled({ apiKey: 'abcdefghijklmnop' }, 200),
};

const us = measureCpu(
  Object.fromEntries(Object.entries(TEXTS).map(([name, text]) => [name, () => void redactor.arguments(text)])),
  { rounds, runs },
);
const rows = Object.entries(us).map(([name, taken]) => [name, shown(taken / ALLOWED_US, 2), shown(taken, 2)]);
console.log(formatTable(['CPU per call', `of ${ALLOWED_US} µs`, 'µs'], rows));
