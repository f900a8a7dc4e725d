/** What `all` runs, in this order: the name of a bench, its arguments, and those with which it only shows that it runs. */
export interface StandardBench {
  readonly bench: string;
  readonly args: readonly string[];
  readonly quick: readonly string[];
}

const TINY_LOOP = ['--seconds', '0.2', '--repetitions', '1', '--warm-up', '20'];

export const STANDARD_SET: readonly StandardBench[] = [
  {
    bench: 'round-trip',
    args: [],
    quick: [
      '--variants',
      'raw-ioredis,naive-serial,naive-parallel,bullmq,sallyport-read',
      '--concurrency',
      '16',
      ...TINY_LOOP,
    ],
  },
  { bench: 'embedded', args: [], quick: ['--concurrency', '16', ...TINY_LOOP] },
  { bench: 'mcp', args: [], quick: ['--concurrency', '4', ...TINY_LOOP] },
  { bench: 'gate', args: [], quick: ['--in-process', '--rounds', '2', '--runs', '50'] },
  { bench: 'approvals', args: [], quick: ['--calls', '20', '--repetitions', '1'] },
  { bench: 'memory', args: [], quick: ['--calls', '100'] },
  { bench: 'scaling', args: [], quick: ['--workers', '1,2', '--seconds', '0.2', '--repetitions', '1'] },
  { bench: 'catalog', args: [], quick: ['--modules', '1', '--tools', '3'] },
  { bench: 'toolkits', args: [], quick: ['--agents', '10', '--modules', '5', '--tools', '12', '--rounds', '1'] },
  {
    bench: 'growth',
    args: [],
    quick: [
      '--dimension',
      'settled',
      '--sizes',
      '50,100',
      '--calls',
      '50',
      '--concurrency',
      '16',
      '--repetitions',
      '1',
    ],
  },
];
