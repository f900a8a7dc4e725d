import { countNoun } from '../base/count-noun.ts';
import { PlaneError } from '../domain/errors/errors.ts';
import {
  SUBJECT_SHARES,
  subjectShares,
  type ShareSettings,
  type SubjectLimits,
  type SubjectShare,
} from '../domain/call/subject-share.ts';
import type { LaneUse } from '../domain/ports/call-requests.ts';
import { readFreeSpace } from '../stores/embedded/free-space.ts';
import { checkOf, type Check } from './check.ts';

/** From this share of a limit on, doctor warns, so that an operator can act before calls are refused. */
const NEARLY = 0.9;
/** Workers delete expired outcomes about once a second. If outcomes are overdue for this long, no worker deletes them. */
const OVERDUE_MS = 10 * 60_000;
const MINUTE_MS = 60_000;

/** Checks how full the lanes are, and whether expired outcomes are deleted to make room. */
export function inspectLaneUse(uses: readonly LaneUse[], limits: ShareSettings): Check[] {
  const check = (name: string, key: 'liveBytes' | 'retainedBytes', what: string, fix: string): Check => {
    const used = Math.max(0, ...uses.map((use) => use[key]));
    const limit = limits[key];
    const found = `${used} of ${limit} bytes of ${what}${uses.length > 1 ? ' in the fullest lane' : ''}`;
    if (used >= limit) return { name, state: 'bad', found: `${found}: new calls are refused`, fix };
    return used >= limit * NEARLY ? { name, state: 'warn', found, fix } : { name, state: 'ok', found };
  };
  const overdueMs = Math.max(0, ...uses.map((use) => use.overdueMs));
  return [
    ...inspectDamage(uses),
    check('live bytes', 'liveBytes', 'unsettled calls', 'Add workers, or raise admission.liveBytes'),
    check(
      'retained bytes',
      'retainedBytes',
      'outcomes',
      'Shorten worker.retentionMs, or raise admission.retainedBytes where the store has the memory',
    ),
    ...inspectShares(uses, subjectShares(limits)),
    overdueMs < OVERDUE_MS
      ? { name: 'reclaim', state: 'ok', found: 'outcomes are forgotten at the end of their retention' }
      : {
          name: 'reclaim',
          state: 'bad',
          found: `outcomes should have been forgotten ${countNoun(Math.round(overdueMs / MINUTE_MS), 'minute')} ago and are still there`,
          fix: "Start a worker; if one runs, look in its log for 'the supervisor cannot reach the store'",
        },
  ];
}

/** Max damaged counters that are listed. A process with a Redis role can damage thousands. */
const MAX_NAMED = 5;

/**
 * Reports counters of a lane that a process with the password of a Redis role has overwritten. Calls of such a lane stay pending or fail.
 */
function inspectDamage(uses: readonly LaneUse[]): Check[] {
  const fix =
    'sallyport store adopt writes it again, and stops the processes that use the store. Then find out whose Redis password was used: docs/security.md';
  const named = uses.flatMap(({ lane, damaged }) =>
    damaged.map(({ key, field, problem }) => `lane ${lane}: ${field} of ${key} ${problem}`),
  );
  const rest = named.length > MAX_NAMED ? [`${countNoun(named.length - MAX_NAMED, 'more number')} like these`] : [];
  return [...named.slice(0, MAX_NAMED), ...rest].map((found) => ({ name: 'lane', state: 'bad', found, fix }));
}

const SHARE_NAMES: Readonly<Record<SubjectShare, string>> = {
  liveBytes: 'live bytes',
  parkedBytes: 'bytes of calls that wait for a person',
  retainedBytes: 'retained bytes',
  pendingApprovals: 'pending approvals',
};

/**
 * What is refused when a subject has used up a share. `parkedBytes` and `pendingApprovals` limit only calls that wait for an approver, so
 * calls without a question still run.
 */
const SHARE_REFUSES: Readonly<Record<SubjectShare, string>> = {
  liveBytes: 'its new calls are refused',
  parkedBytes: 'its calls that a person would be asked about are refused',
  retainedBytes: 'its new calls are refused',
  pendingApprovals: 'its calls that a person would be asked about are refused',
};

/** Checks whether a subject has used up, or nearly used up, one of its shares. Calls of other subjects are not refused then. */
function inspectShares(uses: readonly LaneUse[], limits: SubjectLimits): Check[] {
  const name = 'subject shares';
  const seen = uses.flatMap(({ fullestSubject }) => fullestSubject ?? []);
  if (seen.length === 0) return [];
  const shares = SUBJECT_SHARES.map((share) => {
    const used = Math.max(...seen.map((use) => use[share]));
    return { share, used, part: used / limits[share] };
  });
  const fullest = shares.reduce((max, each) => (each.part > max.part ? each : max));
  const found = `one subject uses ${fullest.used} of ${limits[fullest.share]} ${SHARE_NAMES[fullest.share]}`;
  if (fullest.part < NEARLY) return [{ name, state: 'ok', found: 'no subject is near one of its shares' }];
  const check: Check = {
    name,
    state: 'warn',
    found: fullest.part < 1 ? found : `${found}: ${SHARE_REFUSES[fullest.share]}`,
    fix: 'Have its questions decided (sallyport approvals list), cancel calls of it, or raise its share: see docs/operations.md',
  };
  return [check];
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** For example `75.7 GiB`. */
function showBytes(bytes: number): string {
  let [size, unit] = [bytes, 'bytes'];
  for (const next of UNITS) if (size >= 1024) [size, unit] = [size / 1024, next];
  return `${unit === 'bytes' ? size : size.toFixed(1)} ${unit}`;
}

/** Checks the free disk space for the folder of an embedded store. */
export function inspectDisk(folder: string): Check {
  const disk = readFreeSpace(folder);
  if (disk === undefined)
    return { name: 'disk', state: 'warn', found: `not checked: the system does not tell about ${folder}` };
  const found = `${showBytes(disk.freeBytes)} free for ${folder}`;
  return disk.isFull
    ? {
        name: 'disk',
        state: 'bad',
        found: `full: ${found}`,
        fix: 'Free disk space. Calls are taken again by themselves',
      }
    : { name: 'disk', state: 'ok', found };
}

/** Checks what INFO reports about the memory and the files of a Redis server. */
export function inspectServerRoom(info: string): Check[] {
  const field = (name: string): string => new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim() ?? '';
  const [used, limit] = [Number(field('used_memory')), Number(field('maxmemory'))];
  const files = (
    [
      ['aof_last_write_status', 'the append-only file'],
      ['aof_last_bgrewrite_status', 'the rewritten append-only file'],
      ['rdb_last_bgsave_status', 'the snapshot'],
    ] as const
  ).filter(([name]) => field(name) === 'err');
  return [
    inspectMemory(used, limit),
    files.length === 0
      ? { name: 'disk', state: 'ok', found: 'the last writes of Redis succeeded' }
      : {
          name: 'disk',
          state: 'bad',
          found: `Redis could not write ${files.map(([, what]) => what).join(', ')}`,
          fix: 'Free disk space on the server of Redis, and look in its log. INFO persistence says when it writes again',
        },
  ];
}

function inspectMemory(used: number, limit: number): Check {
  const name = 'memory';
  if (limit === 0) return { name, state: 'ok', found: `${used} bytes used, no limit` };
  const found = `${used} of ${limit} bytes used`;
  const fix = 'Raise maxmemory, or shorten worker.retentionMs';
  if (used >= limit) return { name, state: 'bad', found: `${found}: new calls are refused`, fix };
  return used >= limit * NEARLY ? { name, state: 'warn', found, fix } : { name, state: 'ok', found };
}

/**
 * Runs one part of `doctor`. If a part cannot be read, it is reported as a problem and the other parts are still shown: a process with a
 * Redis role can overwrite keys. If the Redis user lacks the right to read a part, it is only a warning.
 */
export async function inspectPart(name: string, inspect: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await inspect();
  } catch (error) {
    if (!(error instanceof PlaneError)) return [{ name, state: 'bad', found: unreadable(error), fix: UNREADABLE_FIX }];
    if (error.code === 'STORE_FORBIDDEN')
      return [{ name, state: 'warn', found: 'unknown: this user may not look at it' }];
    if (error.code === 'INTERNAL') return [{ name, state: 'bad', found: unreadable(error), fix: UNREADABLE_FIX }];
    return [checkOf(name, error)];
  }
}

const UNREADABLE_FIX =
  'Find out who wrote there: a role can overwrite its keys, see docs/security.md. Bring a backup back, or report it with the output of --debug';

function unreadable(error: unknown): string {
  return `what the store holds cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}
