// `npm run soak:audit [-- --calls 10000] [--store redis]`: sets up, builds, and runs test/audit/kill-soak.test.ts at its full size.
import { runSoak } from './run-soak.mjs';
import { ensurePostgres } from './setup.mjs';

await runSoak({
  name: 'soak:audit',
  calls: '10000',
  fewestCalls: 200,
  file: 'test/audit/kill-soak.test.ts',
  title: 'of calls on',
  prepare: async () => ({ SALLYPORT_POSTGRES: await ensurePostgres() }),
});
