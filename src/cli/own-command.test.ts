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
  expect(asTyped(text, './sallyport')).toBe(shown);
  expect(asTyped(shown, './sallyport')).toBe(shown);
});
