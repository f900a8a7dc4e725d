import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../../../../', import.meta.url));

/** One duration or size of the product that a run of minutes cannot wait for, and what stands there instead. */
interface Shortened {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** A day in minutes: how long things are remembered, and how many. Nothing else of the product is touched. */
const SHORTENED: readonly Shortened[] = [
  { file: 'config/config-schema.js', from: 'LEAST_RETENTION_MS = DAY', to: 'LEAST_RETENTION_MS = 1' },
  { file: 'config/audit-schema.js', from: 'optional(milliseconds(MINUTE,', to: 'optional(milliseconds(1,' },
  { file: 'domain/gateway-token.js', from: '7 * 24 * 60 * 60 * 1000', to: '2_000' },
  { file: 'gateway/agent-sessions.js', from: 'LEAST_SESSION_MS = 60 * 1000', to: 'LEAST_SESSION_MS = 4_000' },
  { file: 'worker/supervise.js', from: 'CONSUMER_IDLE_MS = 10 * 60 * 1000', to: 'CONSUMER_IDLE_MS = 6_000' },
  { file: 'worker/supervise.js', from: 'CONSUMERS_EVERY_MS = 60 * 1000', to: 'CONSUMERS_EVERY_MS = 2_000' },
  { file: 'runners/process/process-runner.js', from: 'maxHeapMb: 256', to: 'maxHeapMb: 48' },
  { file: 'runners/process/process-runner.js', from: 'idleMs: 60_000', to: 'idleMs: 2_000' },
  { file: 'stores/embedded/transitions/forget-stale.js', from: 'GONE_MS = 60_000', to: 'GONE_MS = 15_000' },
  {
    file: 'stores/embedded/transitions/forget-stale.js',
    from: 'SESSION_MS = 24 * 60 * 60 * 1000',
    to: 'SESSION_MS = 2_000',
  },
  { file: 'stores/redis/functions/shared/settlement.lua', from: 'LEASE_MS = 60000', to: 'LEASE_MS = 15000' },
  { file: 'stores/redis/functions/shared/attempts.lua', from: "RECENT_MS = '3600000'", to: "RECENT_MS = '4000'" },
  { file: 'stores/redis/functions/open-session.lua', from: 'MEMORY_MS = 3600000', to: 'MEMORY_MS = 2000' },
  { file: 'client/known-sessions.js', from: 'MOST_KNOWN = 1024', to: 'MOST_KNOWN = 32' },
  { file: 'client/session-toolkits.js', from: 'most: 1024', to: 'most: 32' },
  { file: 'stages/identify/parse-identity.js', from: 'MOST_KNOWN = 4096', to: 'MOST_KNOWN = 32' },
  { file: 'gateway/follow/live-feed.js', from: 'lingerMs = 20_000', to: 'lingerMs = 1_000' },
  { file: 'gateway/follow/settled-history.js', from: 'calls: 100_000', to: 'calls: 400' },
  { file: 'gateway/follow/call-statistics.js', from: 'FINE_FOR_MS = 60 * 60_000', to: 'FINE_FOR_MS = 60_000' },
  { file: 'gateway/api/statistics-schema.js', from: 'mostWindowMs: 24 * 60 * 60_000', to: 'mostWindowMs: 120_000' },
];

/** Where the built product stands a second time, with a short memory. Tools in `folder` import the copy by its package name. */
export interface CompressedCopy {
  readonly folder: string;
  readonly main: string;
  fileOf(path: string): string;
}

/** What is not found where it was, exactly once: the run would wait in vain for what it does not shorten. */
export function findMoved(dist = join(TOP, 'dist')): string[] {
  return SHORTENED.flatMap(({ file, from }) => {
    const times = readFileSync(join(dist, file), 'utf8').split(from).length - 1;
    return times === 1 ? [] : [`${file} has "${from}" ${times} times; change SHORTENED`];
  });
}

/** Copies `dist` as it was built. */
export function makeCompressedCopy(folder: string): CompressedCopy {
  mkdirSync(folder, { recursive: true });
  const fileOf = (path: string): string => join(folder, 'dist', path);
  const kept = (path: string): boolean => !/\.d\.ts$|\/dist\/(bench|examples|\.build)$/.test(path);
  cpSync(join(TOP, 'dist'), join(folder, 'dist'), { recursive: true, filter: kept });
  cpSync(join(TOP, 'package.json'), join(folder, 'package.json'));
  symlinkSync(join(TOP, 'node_modules'), join(folder, 'node_modules'));
  const moved = findMoved(join(folder, 'dist'));
  if (moved.length > 0) throw new Error(moved.join('\n'));
  for (const { file, from, to } of SHORTENED) {
    writeFileSync(fileOf(file), readFileSync(fileOf(file), 'utf8').replace(from, to));
  }
  return { folder, main: fileOf('cli/main.js'), fileOf };
}

export const HYGIENE_MODULES = fileURLToPath(new URL('../../../fixtures/hygiene-plane', import.meta.url));
