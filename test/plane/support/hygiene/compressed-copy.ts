import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const TOP = fileURLToPath(new URL('../../../../', import.meta.url));

/** A duration or size of the product that is too long for a run of minutes, and its replacement. */
interface Shortened {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Compresses a day into minutes: how long things are remembered, and how many. Nothing else of the product is changed. */
const SHORTENED: readonly Shortened[] = [
  { file: 'config/config-schema.ts', from: 'MIN_RETENTION_MS = DAY', to: 'MIN_RETENTION_MS = 1' },
  { file: 'config/audit-schema.ts', from: 'optional(milliseconds(MINUTE,', to: 'optional(milliseconds(1,' },
  { file: 'domain/identity/gateway-token.ts', from: '7 * 24 * 60 * 60 * 1000', to: '2_000' },
  { file: 'worker/supervise.ts', from: 'CONSUMER_IDLE_MS = 10 * 60 * 1000', to: 'CONSUMER_IDLE_MS = 6_000' },
  { file: 'worker/supervise.ts', from: 'CONSUMERS_EVERY_MS = 60 * 1000', to: 'CONSUMERS_EVERY_MS = 2_000' },
  { file: 'worker/runners/process/process-runner.ts', from: 'maxHeapMb: 256', to: 'maxHeapMb: 48' },
  { file: 'worker/runners/process/process-runner.ts', from: 'idleMs: 60_000', to: 'idleMs: 2_000' },
  { file: 'stores/embedded/transitions/forget-stale.ts', from: 'GONE_MS = 60_000', to: 'GONE_MS = 15_000' },
  {
    file: 'stores/embedded/transitions/forget-stale.ts',
    from: 'SESSION_MS = 24 * 60 * 60 * 1000',
    to: 'SESSION_MS = 2_000',
  },
  { file: 'stores/redis/redis-context.ts', from: 'IDLE_AFTER_MS = 30_000', to: 'IDLE_AFTER_MS = 3_000' },
  { file: 'stores/redis/functions/shared/settlement.lua', from: 'LEASE_MS = 60000', to: 'LEASE_MS = 15000' },
  { file: 'stores/redis/functions/shared/attempts.lua', from: "RECENT_MS = '3600000'", to: "RECENT_MS = '4000'" },
  { file: 'stores/redis/functions/open-session.lua', from: 'MEMORY_MS = 3600000', to: 'MEMORY_MS = 2000' },
  { file: 'client/known-sessions.ts', from: 'MAX_KNOWN = 16_384', to: 'MAX_KNOWN = 32' },
  { file: 'client/session-toolkits.ts', from: 'maxEntries: 1024', to: 'maxEntries: 32' },
  {
    file: 'stages/identify/parse-identity.ts',
    from: 'BoundedCache<string, Identity>(16_384)',
    to: 'BoundedCache<string, Identity>(32)',
  },
  { file: 'gateway/follow/live-feed.ts', from: 'lingerMs = 20_000', to: 'lingerMs = 1_000' },
  { file: 'gateway/follow/settled-history.ts', from: 'calls: 100_000', to: 'calls: 400' },
  { file: 'gateway/follow/call-statistics.ts', from: 'FINE_FOR_MS = 60 * 60_000', to: 'FINE_FOR_MS = 60_000' },
  { file: 'gateway/api/statistics-schema.ts', from: 'maxWindowMs: 24 * 60 * 60_000', to: 'maxWindowMs: 120_000' },
];

/** A second copy of the product that remembers things only for a short time. Tools in `folder` import the copy by its package name. */
export interface CompressedCopy {
  readonly folder: string;
  readonly main: string;
  fileOf(path: string): string;
}

/** Texts that do not occur exactly once in their file: the run would wait in vain for what is not shortened. */
export function findMoved(): string[] {
  return SHORTENED.flatMap(({ file, from }) => {
    const times = readFileSync(join(TOP, 'src', file), 'utf8').split(from).length - 1;
    return times === 1 ? [] : [`src/${file} has "${from}" ${times} times; change SHORTENED`];
  });
}

/** Copies the sources, shortens them, and bundles them as the build does. */
export async function makeCompressedCopy(folder: string): Promise<CompressedCopy> {
  const moved = findMoved();
  if (moved.length > 0) throw new Error(moved.join('\n'));
  mkdirSync(join(folder, 'scripts'), { recursive: true });
  const here = (path: string): string => join(folder, path);
  cpSync(join(TOP, 'src'), here('src'), { recursive: true, filter: (path) => !path.endsWith('.test.ts') });
  for (const file of ['scripts/bundle.mjs', 'scripts/top.mjs', 'package.json']) cpSync(join(TOP, file), here(file));
  symlinkSync(join(TOP, 'node_modules'), here('node_modules'));
  for (const { file, from, to } of SHORTENED) {
    const path = here(join('src', file));
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
  }
  const isLua = (path: string): boolean => extname(path) === '.lua' || statSync(path).isDirectory();
  for (const part of ['stores', 'worker/services'])
    cpSync(here(`src/${part}`), here(`dist/${part}`), { recursive: true, filter: isLua });
  cpSync(join(TOP, 'dist/console'), here('dist/console'), { recursive: true });
  const build = `import(${JSON.stringify(pathToFileURL(here('scripts/bundle.mjs')).href)}).then(({ bundle }) => bundle())`;
  await promisify(execFile)(process.execPath, ['--input-type=module', '-e', build]);
  return { folder, main: here('dist/cli/main.js'), fileOf: (path) => join(folder, 'dist', path) };
}

export const HYGIENE_MODULES = fileURLToPath(new URL('../../../fixtures/hygiene-plane', import.meta.url));
