// `npm run journey:deploy [-- --calls 5000]`: sets up, builds, and runs test/deploy/journey.test.ts with that many calls around each restart.
import { runSoak } from './run-soak.mjs';

await runSoak({
  name: 'journey:deploy',
  calls: '5000',
  fewestCalls: 50,
  file: 'test/deploy/journey.test.ts',
  title: 'an operator',
});
