// `npm run soak:approvals [-- --calls 500] [--store redis]`: sets up, builds, and runs test/plane/approval-soak.test.ts at its full size.
import { runSoak } from './run-soak.mjs';

await runSoak({
  name: 'soak:approvals',
  calls: '500',
  fewestCalls: 20,
  file: 'test/plane/approval-soak.test.ts',
  title: 'asked about on',
});
