// The import table and the cycle check. In addition to dependency-cruiser's own verdict it proves that the sources were really read:
// with a TypeScript that has no JavaScript API the tool reports "no violations (0 modules)" and exits 0.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { TOP } from './top.mjs';

const require = createRequire(import.meta.url);
const { MAY_IMPORT } = require('../.dependency-cruiser.cjs');

const roots = ['src', 'console/src', 'test', 'bench', 'chaos', 'examples'].filter((folder) =>
  existsSync(join(TOP, folder)),
);
const problems = [];

const typeScriptFiles = (folder) =>
  readdirSync(join(TOP, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(TOP.length + 1));

const onDisk = roots.flatMap(typeScriptFiles);
const inSource = onDisk.filter((file) => file.startsWith('src/'));

const entries = new Set(inSource.map((file) => file.split('/')[1]).filter((name) => !name.endsWith('.test.ts')));
for (const entry of entries) {
  if (!(entry in MAY_IMPORT)) problems.push(`src/${entry} has no row in the import table (.dependency-cruiser.cjs).`);
}

const manifest = JSON.parse(readFileSync(join(TOP, 'node_modules/dependency-cruiser/package.json'), 'utf8'));
const run = spawnSync(
  process.execPath,
  [join(TOP, 'node_modules/dependency-cruiser', manifest.bin.depcruise), '--output-type', 'json', ...roots],
  { cwd: TOP, encoding: 'utf8', maxBuffer: 512 * 1024 * 1024 },
);

let report;
try {
  report = JSON.parse(run.stdout);
} catch {
  console.error(run.stderr || run.stdout);
  console.error('dependency-cruiser gave no report.');
  process.exit(1);
}

const seen = new Map(report.modules.map((module) => [module.source, module]));
const unseen = onDisk.filter((file) => !seen.has(file));
const links = inSource.flatMap((file) => seen.get(file)?.dependencies ?? []);
// Files with an import that is not `import type`. If there are any, the report must contain imports.
const written = inSource.filter((file) => /^import [^t]/m.test(readFileSync(join(TOP, file), 'utf8')));

if (seen.size === 0 || inSource.length === 0) problems.push('No modules were read; the check proves nothing.');
if (unseen.length > 0) problems.push(`${unseen.length} files were not read, the first is ${unseen[0]}.`);
if (written.length > 0 && links.length === 0) problems.push('No imports were read; the check proves nothing.');

for (const { rule, from, to, cycle, via } of report.summary.violations) {
  const path = (cycle ?? via ?? []).map((step) => step.name).join(' -> ');
  problems.push(`${rule.name}: ${from} -> ${path || to}`);
}

for (const problem of problems) console.error(problem);
const named = new Set(report.summary.violations.map(({ rule }) => rule.name));
for (const { name, comment } of report.summary.ruleSetUsed?.forbidden ?? []) {
  if (named.has(name) && comment) console.error(`  ${name}: ${comment}`);
}
console.log(`${seen.size} modules, ${report.summary.totalDependenciesCruised} imports, ${problems.length} problems`);
process.exit(problems.length > 0 ? 1 : 0);
