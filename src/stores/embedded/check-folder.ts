import { chmodSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ALL_MAY_WRITE, GROUP_MAY_WRITE, othersMayWrite } from '../../base/others-may-write.ts';
import { shellWord } from '../../base/shell-word.ts';
import { planeError, type PlaneError } from '../../domain/errors/errors.ts';

const STICKY = 0o1000;
const OTHERS_MAY_READ = 0o055;
/** The files and folders that Sallyport makes in the folder of the store, with the drafts and logs that have their names and an ending. */
const OURS =
  /^(?:(?:store|owner|services)\.sqlite|store\.id|plane\.json|gateway\.json|redaction\.key|seal\.key|audit-keys)(?:$|[-.])/;
/** The file of the lock holds no data. Earlier releases let the umask decide its mode. */
const HOLDS_NO_DATA = /^owner\.sqlite/;

/**
 * Throws STORE_FOLDER_UNSAFE if another user can put files into the folder or replace it, or if a file of the store belongs to another user
 * or can be written by one. The attack: who puts another `store.sqlite` in place has chosen the policy and the tokens.
 */
export function refuseUnsafeFolder(folder: string): void {
  const place = resolve(folder);
  const facts = statSync(place, { throwIfNoEntry: false });
  if (facts?.isDirectory() === true) {
    const others = othersMayWrite(facts, ALL_MAY_WRITE | GROUP_MAY_WRITE);
    if (others === 'owner') throw foreign(place, facts.uid);
    if (others === 'mode') throw unsafe(place, 'can be written by other users', `Close it: ${chmod(700, place)}`);
    refuseUnsafeFiles(place);
  }
  for (const parent of parentsOf(place)) {
    const { mode } = statSync(parent);
    if ((mode & ALL_MAY_WRITE) === 0 || (mode & STICKY) !== 0) continue;
    throw unsafe(place, `is in ${parent}, which everybody can write`, `Close that one: chmod o-w ${shellWord(parent)}`);
  }
}

/** Throws STORE_FOLDER_UNSAFE if the socket, or the folder that it is in, was made by another user: after a restart its path is free. */
export function refuseForeignSocket(socket: string): void {
  for (const path of [dirname(socket), socket]) {
    const facts = lstatSync(path, { throwIfNoEntry: false });
    if (facts !== undefined && othersMayWrite(facts, 0) === 'owner') throw foreign(path, facts.uid);
  }
}

/**
 * Takes the right to read the folder away from other users, if it holds only what Sallyport makes. Throws STORE_FOLDER_UNSAFE if it holds
 * more: other programs may need to read that.
 */
export function closeToOthers(folder: string): void {
  const { mode } = statSync(folder);
  if (process.platform === 'win32' || (mode & OTHERS_MAY_READ) === 0) return;
  const [more] = readdirSync(folder).filter((name) => !OURS.test(name));
  if (more === undefined) chmodSync(folder, 0o700);
  else {
    const problem = `can be read by other users, and holds more than the store (${more})`;
    throw unsafe(folder, problem, `Close it: ${chmod(700, folder)}. Or name a folder of its own with --folder.`);
  }
}

function refuseUnsafeFiles(folder: string): void {
  for (const name of namesIn(folder).filter((each) => OURS.test(each))) {
    const path = join(folder, name);
    // Both the link and its target, because either decides what is opened. A file can be gone by now: a draft was renamed.
    for (const look of [lstatSync, statSync]) {
      const facts = look(path, { throwIfNoEntry: false });
      if (facts === undefined) continue;
      const rights = HOLDS_NO_DATA.test(name) || facts.isSymbolicLink() ? 0 : ALL_MAY_WRITE | GROUP_MAY_WRITE;
      const others = othersMayWrite(facts, rights);
      if (others === 'owner') throw foreign(path, facts.uid);
      const closed = facts.isDirectory() ? 700 : 600;
      if (others === 'mode') throw unsafe(path, 'can be written by other users', `Close it: ${chmod(closed, path)}`);
    }
  }
}

/** Returns nothing for a folder that this user may not read: it is reported as STORE_READ_ONLY. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** All folders above the place that exist, as it is written and with its links followed. */
function parentsOf(place: string): ReadonlySet<string> {
  const parents = new Set<string>();
  const add = (path: string): void => {
    for (let above = dirname(path); ; above = dirname(above)) {
      if (statSync(above, { throwIfNoEntry: false }) !== undefined) parents.add(above);
      if (above === dirname(above)) return;
    }
  };
  add(place);
  const [nearest] = statSync(place, { throwIfNoEntry: false }) === undefined ? parents : [place];
  if (nearest !== undefined) add(join(withoutLinks(nearest), nearest === place ? '' : 'new'));
  return parents;
}

/** Returns the path itself if its links cannot be followed here, as below `/proc/PID/root`. */
function withoutLinks(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function chmod(mode: 600 | 700, path: string): string {
  return `chmod ${mode} ${shellWord(path)}`;
}

function foreign(path: string, uid: number): PlaneError {
  const repair = 'Run this as that user, or name a folder of your own with --folder.';
  return unsafe(path, `belongs to another user (uid ${uid})`, repair);
}

function unsafe(path: string, problem: string, repair: string): PlaneError {
  return planeError('STORE_FOLDER_UNSAFE', { path, problem, repair: repair.endsWith('.') ? repair : `${repair}.` });
}
