// `npm run soak:mcp [-- --calls 5000]`: sets up, builds, and runs test/mcp/isolation.test.ts at its full size.
import { runSoak } from './run-soak.mjs';

await runSoak({
  name: 'soak:mcp',
  calls: '5000',
  fewestCalls: 50,
  file: 'test/mcp/isolation.test.ts',
  title: 'never get each other',
});
