// `npm run requirements [-- --json]`: checks every row of requirements/ against the tests and the known bugs of this tree, and
// fails if a row has no proof. Runs no test. The last line is always `N rows proved, N later, N without proof`.
import { TOP } from './top.mjs';

const args = process.argv.slice(2);
const unknown = args.filter((arg) => arg !== '--json');
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(' ')}. Usage: npm run requirements [-- --json]`);
  process.exit(2);
}

const { loadRequirements } = await import('../requirements/load.mjs');
const { checkAll, countLine } = await loadRequirements();
const rows = checkAll(TOP);
const open = rows.filter(({ state }) => state === 'without proof');

if (args.includes('--json')) console.log(JSON.stringify(rows, null, 2));
else {
  for (const { id, says, problems } of open) {
    console.log(`${id}: ${says}`);
    for (const problem of problems) console.log(`  ${problem}`);
  }
}
// With --json the count goes to standard error, so that standard output stays JSON.
(args.includes('--json') ? console.error : console.log)(countLine(rows));
process.exitCode = open.length > 0 ? 1 : 0;
