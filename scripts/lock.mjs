// Allows one set-up at a time per clone: two at once would corrupt node_modules or dist.
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TOP } from './top.mjs';

const RETRY_MS = 200;
const WAIT_MS = 15 * 60_000;
/** A lock folder exists for a moment before its file of holders. A lock without that file that is older than this was left by a crash. */
const HOLDERLESS_MS = 10_000;

/**
 * Runs `work` while holding the lock. Waits for another process of this clone that holds it; takes over from a dead one.
 * `work` gets `holdFor(pid)`: the lock is then also held for that child process, which may outlive a killed parent.
 */
export async function withLock(name, work) {
  const folder = join(TOP, `.setup-lock-${name}`);
  await acquire(folder, name);
  const release = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', release);
  try {
    return await work((pid) => writeHolders(folder, [process.pid, pid]));
  } finally {
    process.off('exit', release);
    release();
  }
}

async function acquire(folder, name) {
  const giveUpAt = Date.now() + WAIT_MS;
  let told = false;
  while (!tryAcquire(folder)) {
    if (takeOverIfDead(folder)) continue;
    if (Date.now() > giveUpAt) throw new Error(`Gave up waiting for ${folder}. Remove it if no set-up is running.`);
    if (!told)
      console.log(`setup: waiting for another set-up (${name}, pid ${holders(folder)[0]?.pid ?? 'unknown'}) …`);
    told = true;
    await sleep(RETRY_MS);
  }
}

function tryAcquire(folder) {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  writeHolders(folder, [process.pid]);
  return true;
}

function writeHolders(folder, pids) {
  const draft = join(folder, 'holders.new');
  writeFileSync(draft, JSON.stringify(pids.map((pid) => ({ pid, startedAt: startOf(pid) }))));
  renameSync(draft, join(folder, 'holders'));
}

/** Removes a lock whose holders are dead. The `takeover` folder inside it makes sure that only one waiter does so, and never on a fresh lock. */
function takeOverIfDead(folder) {
  if (!isDead(folder)) return false;
  const guard = join(folder, 'takeover');
  try {
    mkdirSync(guard);
  } catch {
    if (ageMs(guard) > HOLDERLESS_MS) removeFolder(guard);
    return false;
  }
  if (!isDead(folder)) {
    removeFolder(guard);
    return false;
  }
  const aside = `${folder}-dead-${process.pid}`;
  renameSync(folder, aside);
  rmSync(aside, { recursive: true, force: true });
  return true;
}

function isDead(folder) {
  const known = holders(folder);
  return known.length === 0 ? ageMs(folder) > HOLDERLESS_MS : !known.some(isAlive);
}

function isAlive({ pid, startedAt }) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error.code === 'ESRCH') return false;
  }
  // The same pid with another start time is another process.
  return startOf(pid) === startedAt;
}

function holders(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'holders'), 'utf8'));
  } catch {
    return [];
  }
}

/** Start time of a process in clock ticks since boot; null where there is no /proc. */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

function ageMs(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function removeFolder(path) {
  try {
    rmdirSync(path);
  } catch {
    // Another process has already removed it.
  }
}
