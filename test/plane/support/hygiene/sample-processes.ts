import { setTimeout as pause } from 'node:timers/promises';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { DoorAnswer, HygieneProcess } from './hygiene-process.ts';
import type { Sample } from './sample.ts';

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

interface Found {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly command: string;
}

/** Every process of this run, found by the TMPDIR in its environment, and dead child processes that were not collected (zombies). */
function findProcesses(temporary: string): Found[] {
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const found = all.flatMap((name): (Found & { readonly isOurs: boolean })[] => {
    const stat = readText(`/proc/${name}/stat`);
    const environment = readText(`/proc/${name}/environ`);
    if (stat === undefined) return [];
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readText(`/proc/${name}/cmdline`)?.split('\0').join(' ').trim() ?? '';
    const isOurs = environment?.split('\0').includes(`TMPDIR=${temporary}`) === true;
    return [{ pid: Number(name), parent: Number(parent), state, command, isOurs }];
  });
  const ours = new Set(found.filter(({ isOurs }) => isOurs).map(({ pid }) => pid));
  return found.filter(({ pid, parent, state }) => ours.has(pid) || (state === 'Z' && ours.has(parent)));
}

/** The kind of a process without a role, taken from its command line. */
function kindOf({ state, command }: Found): string {
  if (state === 'Z') return 'dead, not collected';
  if (command.includes('process-child')) return 'tool process';
  if (command.includes('describe-child')) return 'describer';
  return command.split(' ').slice(0, 2).join(' ') || 'unnamed';
}

/** The peers of sockets by inode: `/proc/net` lists them under the number that the descriptor's link contains. */
function readSockets(): Map<string, string> {
  const names = new Map<string, string>();
  const port = (address = ''): number => Number.parseInt(address.split(':')[1] ?? '0', 16);
  for (const line of readText('/proc/net/tcp')?.split('\n').slice(1) ?? []) {
    const [, local, remote, state, , , , , , inode] = line.trim().split(/\s+/);
    if (inode !== undefined) names.set(inode, `tcp ${port(local)} to ${port(remote)}, state ${state}`);
  }
  for (const line of readText('/proc/net/unix')?.split('\n').slice(1) ?? []) {
    const [, , , , , , inode, path = 'unnamed'] = line.trim().split(/\s+/);
    if (inode !== undefined) names.set(inode, `unix ${path}`);
  }
  return names;
}

function readDescriptors(pid: number, sockets: Map<string, string>): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
      try {
        const target = readlinkSync(`/proc/${pid}/fd/${name}`);
        const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
        return [inode === undefined ? target : (sockets.get(inode) ?? 'socket, unconnected')];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

const KINDS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['tcp', /^tcp/],
  ['unix sockets', /^(unix|socket)/],
  ['pipes', /^pipe/],
  ['others', /^anon_inode/],
  ['files', /./],
];

const numberIn = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);

/** Counts the processes of the run by kind, and measures descriptors, threads and resident memory for each role. */
export function sampleProcesses(sample: Sample, temporary: string, processes: readonly HygieneProcess[]): void {
  const roles = new Map(processes.map(({ pid, role }) => [pid, role]));
  for (const found of findProcesses(temporary)) {
    const name = roles.get(found.pid) ?? kindOf(found);
    sample.count(`processes: ${name}`, 1, [`${found.pid} (parent ${found.parent}): ${found.command}`]);
  }
  const sockets = readSockets();
  for (const { pid, role } of processes) {
    const status = readText(`/proc/${pid}/status`);
    if (status === undefined) continue;
    for (const target of readDescriptors(pid, sockets)) {
      const kind = KINDS.find(([, pattern]) => pattern.test(target))![0];
      sample.count(`fds of ${role}: ${kind}`, 1, [target]);
    }
    sample.count(`threads of ${role}`, numberIn(status, 'Threads'));
    sample.measure(`rss of ${role}`, numberIn(status, 'VmRSS') * 1024);
  }
}

/** Loops sleep and work in turn, so one sample may see a timer more or less. The minimum of several samples is what always exists. */
const GLANCES = 12;
const GLANCE_EVERY_MS = 20;

/** Reads through the door what keeps the main thread of each role alive, and its heap. */
export async function sampleDoors(
  sample: Sample,
  processes: readonly HygieneProcess[],
  collectFirst: boolean,
): Promise<void> {
  for (const process of processes) {
    const glances: ReadonlyMap<string, number>[] = [];
    for (let number = 0; number < GLANCES; number += 1) {
      glances.push(countEach((await process.ask<DoorAnswer>({ ask: 'look' })).resources));
      await pause(GLANCE_EVERY_MS);
    }
    for (const kind of new Set(glances.flatMap((glance) => [...glance.keys()]))) {
      sample.count(
        `resources of ${process.role}: ${kind}`,
        Math.min(...glances.map((glance) => glance.get(kind) ?? 0)),
      );
    }
    if (!collectFirst) continue;
    const { heapUsed, external } = await process.ask<DoorAnswer>({ ask: 'look', collectFirst });
    sample.measure(`heap of ${process.role}`, heapUsed);
    sample.measure(`external of ${process.role}`, external);
  }
}

function countEach(words: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}
