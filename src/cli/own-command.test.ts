import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { asTyped, ownCommand } from './own-command.ts';

describe('ownCommand', () => {
  it.each([
    ['/clone/dist/cli/main.js', '/clone', './sallyport'],
    ['/my clone/dist/cli/main.js', '/my clone/sub', '../sallyport'],
    ['/my clone/dist/cli/main.js', '/', "'/my clone/sallyport'"],
    ['/app/dist/cli/main.js', '/', 'node /app/dist/cli/main.js'],
    ['/app/dist/cli/main.js', '/app', 'node dist/cli/main.js'],
    ['/app/node_modules/.bin/sallyport', '/app', 'npx sallyport'],
    ['/usr/local/bin/sallyport', '/app', 'sallyport'],
  ])('for %s in %s prints the command %s', (script, cwd, command) => {
    const inClone = (file: string): boolean => file.startsWith('/clone/') || file.startsWith('/my clone/');
    expect(ownCommand({ script, cwd, exists: inClone })).toBe(command);
  });

  it.each([
    ['./sallyport', './sallyport'],
    ['/opt/my clone/sallyport', "'/opt/my clone/sallyport'"],
    ['/usr/bin/sallyport', 'sallyport'],
  ])('for a launcher that was called as %s prints the command %s', (startedAs, command) => {
    const start = { script: '/clone/dist/cli/main.js', cwd: '/clone', path: ['/bin', '/usr/bin'] };
    expect(ownCommand({ ...start, startedAs })).toBe(command);
  });
});

it.each([
  ['See: sallyport calls --help', 'See: ./sallyport calls --help'],
  ['a sallyport dev, then sallyport dev', 'a ./sallyport dev, then ./sallyport dev'],
  [
    'npx sallyport dev, ../sallyport dev, /etc/sallyport here',
    'npx sallyport dev, ../sallyport dev, /etc/sallyport here',
  ],
])('%s is shown as %s in a clone', (text, shown) => {
  expect(asTyped(text, { command: './sallyport', flags: [] })).toBe(shown);
  expect(asTyped(shown, { command: './sallyport', flags: [] })).toBe(shown);
});

it.each([
  [
    'sallyport',
    'Stop it: sallyport pause all, or sallyport doctor',
    'Stop it: sallyport --folder b pause all, or sallyport --folder b doctor',
  ],
  ['./sallyport', 'sallyport calls list', './sallyport --folder b calls list'],
  ['./sallyport', 'See: sallyport calls list --help', 'See: ./sallyport calls list --help'],
  ['npx sallyport', 'See: sallyport --help', 'See: npx sallyport --help'],
])('for %s --folder b, %s is shown as %s', (command, text, shown) => {
  const typed = { command, flags: ['--folder', 'b'] };
  expect(asTyped(text, typed)).toBe(shown);
  expect(asTyped(shown, typed)).toBe(shown);
});

/** The files of this folder and of commands/, without tests. */
function sources(): [file: string, text: string][] {
  const folder = new URL('.', import.meta.url);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  return files.map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]);
}

describe('every printed command acts on the store of the command that prints it', () => {
  it('because only asTyped and startCommand know how this program was started', () => {
    const users = sources().filter(([, text]) => text.includes('thisCommand'));
    expect(users.map(([file]) => file).sort()).toEqual(['own-command.ts', 'start-command.ts']);
  });

  it('because results name a command only through asTyped', () => {
    // Standard output is data, so the terminal leaves it as it is; remarks, warnings, hints and failures pass through asTyped there.
    const raw = sources().flatMap(([file, text]) =>
      [...text.matchAll(/terminal\.print(?:Table)?\((?:(?!asTyped)[^;])*?\bsallyport [a-z]+ [^;]*;/g)].map(
        ([line]) => `${file}: ${line}`,
      ),
    );
    expect(raw).toEqual([]);
  });
});
