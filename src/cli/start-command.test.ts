import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/process.ts';
import { startCommand } from './start-command.ts';

let temporary: TemporaryFolder;
beforeEach(() => {
  temporary = temporaryFolder('sallyport-start');
});
afterEach(() => temporary.remove());

function advice(folder: string, { modules, command = 'sallyport' }: { modules?: string; command?: string } = {}) {
  const cwd = temporary.path;
  return startCommand({ folder: join(cwd, folder), worker: { modules } }, { cwd, command });
}

it('names the modules, which dev needs where there is no folder of them', () => {
  expect(advice('.sallyport')).toBe('sallyport dev --modules PATH');
  expect(advice('plane')).toBe('sallyport dev --modules PATH --folder plane');
});

it('is dev alone where it finds modules', () => {
  expect(advice('.sallyport', { modules: '/tools' })).toBe('sallyport dev');
  mkdirSync(join(temporary.path, 'modules'));
  expect(advice('.sallyport')).toBe('sallyport dev');
  expect(advice('my plane')).toBe("sallyport dev --folder 'my plane'");
});

it('is npm start at the top of a clone', () => {
  mkdirSync(join(temporary.path, 'scripts'));
  writeFileSync(join(temporary.path, 'scripts/start.mjs'), '');
  expect(advice('.sallyport', { command: './sallyport' })).toBe('npm start');
  expect(advice('plane', { command: './sallyport' })).toBe('npm start -- --folder plane');
  expect(advice('.sallyport')).toBe('sallyport dev --modules PATH');
});
