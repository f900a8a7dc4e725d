/** The benches that `all` runs, in this order: the name of a bench, and the arguments for a quick run that only shows that it works. */
export interface StandardBench {
  readonly bench: string;
  /** Arguments separated by spaces. All quick runs together take half a minute on two idle cores, so each uses as few processes as it can. */
  readonly quick: string;
}

const TINY_LOOP = '--seconds 0.2 --repetitions 1 --warm-up 20';

export const STANDARD_SET: readonly StandardBench[] = [
  {
    bench: 'round-trip',
    quick: `--variants raw-ioredis,naive-parallel,sallyport-read --concurrency 16 ${TINY_LOOP}`,
  },
  { bench: 'embedded', quick: `--concurrency 16 ${TINY_LOOP}` },
  { bench: 'mcp', quick: `--variants direct,mcp-proxy,sallyport-embedded --concurrency 4 ${TINY_LOOP}` },
  { bench: 'gate', quick: '--in-process --rounds 2 --runs 50' },
  { bench: 'approvals', quick: '--store embedded --calls 20 --repetitions 1' },
  { bench: 'memory', quick: '--store redis --calls 100' },
  { bench: 'scaling', quick: '--workers 1 --seconds 0.2 --repetitions 1' },
  { bench: 'catalog', quick: '--store embedded --modules 1 --tools 3' },
  { bench: 'toolkits', quick: '--agents 10 --modules 5 --tools 12 --rounds 1' },
  {
    bench: 'growth',
    quick: '--dimension settled --store embedded --sizes 50,100 --calls 50 --concurrency 16 --repetitions 1',
  },
];
