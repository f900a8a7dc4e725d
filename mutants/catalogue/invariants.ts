import type { Mutant } from '../mutant.ts';

const REDIS = 'test/contract/redis.test.ts';

export const INVARIANTS: readonly Mutant[] = [
  {
    id: 'settle-ignores-the-fence',
    bug: 'Settle on Redis takes an outcome from whoever holds the entry, whatever fence it names.',
    file: 'src/stores/redis/functions/settle-calls.lua',
    find: 'not has_fence(record, entry, deliveries, fence)',
    replace: 'record[ENTRY] ~= entry',
    caughtBy: [{ file: REDIS, title: 'a worker that takes over its own call loses the old lease of it' }],
  },
];
