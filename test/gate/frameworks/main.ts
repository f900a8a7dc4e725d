// Runs every agent with the packages that are installed next to this file: see scripts/journey-frameworks.mjs.
import { isDeepStrictEqual } from 'node:util';
import { checkAgent, FRAMEWORKS, verdictsAlone, type Framework } from './check-agents.ts';
import { STYLES } from './scenario.ts';

const expected = await verdictsAlone();
let failed = 0;
for (const framework of Object.keys(FRAMEWORKS) as Framework[]) {
  for (const style of STYLES) {
    const { verdicts, problems } = await checkAgent(framework, style);
    const isSame = isDeepStrictEqual(verdicts, expected);
    const all = isSame ? problems : [...problems, `other verdicts: ${verdicts.join('; ')}`];
    if (all.length > 0) failed += 1;
    console.log(`${all.length === 0 ? 'ok    ' : 'FAILED'} ${framework}, gate around the ${style}`, ...all);
  }
}
console.log(`Node ${process.version}: ${expected.length} verdicts on each agent, ${failed} agents failed`);
process.exitCode = failed === 0 ? 0 : 1;
