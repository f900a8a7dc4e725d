import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { eventually, freePort, spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startProgram, type WatchedProcess } from '../support/watched-process.ts';

const opened: { folders: TemporaryFolder[]; processes: WatchedProcess[] } = { folders: [], processes: [] };

afterEach(async () => {
  await Promise.all(opened.processes.splice(0).map((child) => child.stop(0)));
  for (const folder of opened.folders.splice(0)) folder.remove();
  failOnLeaks();
});

async function runScript(text: string, options: { ipc?: boolean } = {}): Promise<WatchedProcess> {
  const folder = temporaryFolder();
  opened.folders.push(folder);
  const script = join(folder.path, 'script.mjs');
  writeFileSync(script, text);
  const child = await spawnNode(script, ['an argument'], { ...options, env: { HARNESS_WORD: 'hello' } });
  opened.processes.push(child);
  return child;
}

test('spawnNode passes arguments and environment, and waitForLine finds a line printed before or after the call', async () => {
  const child = await runScript(`
    process.once('SIGUSR2', () => console.error('second'));
    console.log('first', process.env.HARNESS_WORD, process.argv[2]);
    setInterval(() => {}, 1000);
  `);
  expect(await child.waitForLine(/^first/)).toBe('first hello an argument');
  expect(await child.waitForLine(/^first/)).toBe('first hello an argument');
  const second = child.waitForLine(/^second/);
  child.kill('SIGUSR2');
  expect(await second).toBe('second');
  expect(child.stderr).toBe('second\n');
});

test('waitForLine rejects with the output when the process ends first, and when time is up', async () => {
  const child = await runScript(`console.log('only this'); process.exitCode = 3;`);
  await expect(child.waitForLine(/never/)).rejects.toThrow(/"code":3[^]*only this/);
  expect(await child.exited).toEqual({ code: 3, signal: null });

  const quiet = await runScript('setInterval(() => {}, 1000)');
  await expect(quiet.waitForLine(/never/, 50)).rejects.toThrow('within 50 ms');
});

test('stop ends a stopped process, and one that ignores SIGTERM', async () => {
  const stopped = await runScript(`console.log('up'); setInterval(() => {}, 1000)`);
  await stopped.waitForLine(/up/);
  stopped.kill('SIGSTOP');
  expect(await stopped.stop()).toEqual({ code: null, signal: 'SIGTERM' });

  const stubborn = await runScript(`process.on('SIGTERM', () => {}); console.log('up'); setInterval(() => {}, 1000)`);
  await stubborn.waitForLine(/up/);
  expect(await stubborn.stop(50)).toEqual({ code: null, signal: 'SIGKILL' });
});

test('ipc carries messages both ways', async () => {
  const child = await runScript(`process.on('message', (message) => process.send({ echo: message }))`, { ipc: true });
  const answer = new Promise((resolve) => child.onMessage(resolve));
  child.send({ number: 7 });
  expect(await answer).toEqual({ echo: { number: 7 } });
});

test('a program that is not installed is named together with what to install', async () => {
  await expect(startProgram('no-such-program', [], { installHint: 'apt-get install it.' })).rejects.toThrow(
    'The program "no-such-program" is not on PATH. apt-get install it.',
  );
});

test('freePort stays below the ports that outgoing connections get', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  for (const port of ports) expect(port).toBeLessThan(32_768);
});

test('eventually returns the truthy value and otherwise reports the last answer or error', async () => {
  let asked = 0;
  expect(await eventually(() => (asked += 1) === 3 && 'third', { everyMs: 1 })).toBe('third');
  await expect(eventually(() => null, { timeoutMs: 30, everyMs: 5, what: 'a value' })).rejects.toThrow(
    'Waited 30 ms for a value; last time it answered null',
  );
  const failing = eventually(() => Promise.reject(new Error('not up')), { timeoutMs: 30, everyMs: 5 });
  await expect(failing).rejects.toThrow(/last time it threw Error: not up/);
});

test('eventually keeps its bound when the check never answers', async () => {
  await expect(eventually(() => new Promise(() => {}), { timeoutMs: 50 })).rejects.toThrow('no answer yet');
});

test('the reaper kills the process and deletes the folder of an owner that was killed', async () => {
  const leaked = temporaryFolder();
  opened.folders.push(leaked);
  const reaper = fileURLToPath(new URL('../support/reaper-process.mjs', import.meta.url));
  const owner = await runScript(`
    import { spawn } from 'node:child_process';
    const listen = 'const s = require("net").createServer().listen(0, "127.0.0.1", () => console.log("port", s.address().port))';
    const sleeper = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'inherit', 'ignore'] });
    const reaper = spawn(process.execPath, [${JSON.stringify(reaper)}], { stdio: ['pipe', 'ignore', 'ignore'] });
    for (const what of [{ pid: sleeper.pid }, { folder: ${JSON.stringify(leaked.path)} }]) {
      reaper.stdin.write(JSON.stringify({ verb: 'watch', ...what }) + '\\n');
    }
  `);
  // The port shows whether the process lives. Its pid does not: a dead process that no parent collects keeps its pid.
  const port = Number((await owner.waitForLine(/^port/)).split(' ')[1]);
  expect(await answers(port)).toBe(true);
  owner.kill('SIGKILL');
  await eventually(async () => !(await answers(port)) && !existsSync(leaked.path), { what: 'the reaper' });
});

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
