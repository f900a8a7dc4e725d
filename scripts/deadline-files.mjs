// Finds the test files that contain a deadline: a short time written as a number, or a wait for time to pass. A slow machine may fail them.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { TOP } from './top.mjs';

const TESTS = ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'bench/**/*.test.ts', 'test/**/*.test.ts'];

/** Milliseconds below one minute. A longer time does not depend on the speed of the machine, and 0 is no wait. */
const SHORT = String.raw`(?:[1-9]\d{0,3}|[1-5]?\d_\d{3})(?![\d_])`;
const TIMED = new RegExp(
  [
    String.raw`\b\w*(?:deadline|wait|lease|timeout|lifetime|idle|grace|patience|retention|late|settle|stall)\w*Ms(?: =|:) ?${SHORT}`,
    String.raw`_MS = ${SHORT}`,
    String.raw`\btimeout: ?${SHORT}`,
    String.raw`\bsetTimeout\(`,
    String.raw`\b(?:storeTimePasses|storeTimeAfter|untilStoreTime)\(`,
    String.raw`\bperformance\.now\(`,
  ].join('|'),
  'i',
);

/**
 * Matches imports, because a suite can be split into several files, such as the topics of a contract: a deadline in any of them counts.
 * Deadlines in files that all suites share (SHARED) do not count; otherwise every test file would have one.
 */
const IMPORT = /^(?:import|export|\}).* from '(\.\.?\/[^']+\.ts)';$/gm;
const SHARED = /^test\/(?:.*\/)?(?:support|fixtures)\/|^test\/contract\/(?:fixtures|observe|scene)\.ts$/;

function hasDeadline(file, seen = new Set()) {
  seen.add(file);
  const text = readFileSync(join(TOP, file), 'utf8');
  if (TIMED.test(text)) return true;
  const parts = [...text.matchAll(IMPORT)]
    .map(([, path]) => relative(TOP, join(TOP, dirname(file), path)))
    .filter((path) => path.startsWith('test/') && !SHARED.test(path) && !seen.has(path));
  return parts.some((path) => hasDeadline(path, seen));
}

/** Returns paths relative to the top of the project, sorted. */
export function deadlineFiles() {
  return globSync(TESTS, { cwd: TOP })
    .filter((file) => hasDeadline(file))
    .toSorted();
}
