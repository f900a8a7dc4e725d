import { describe, expect, it } from 'vitest';
import { ownCommand } from './own-command.ts';

describe('ownCommand', () => {
  it.each([
    ['/clone/dist/cli/main.js', '/clone', './sallyport'],
    ['/my clone/dist/cli/main.js', '/my clone/sub', '../sallyport'],
    ['/my clone/dist/cli/main.js', '/', "'my clone/sallyport'"],
    ['/app/dist/cli/main.js', '/app', 'node dist/cli/main.js'],
    ['/app/node_modules/.bin/sallyport', '/app', 'npx sallyport'],
    ['/usr/local/bin/sallyport', '/app', 'sallyport'],
  ])('tells for %s in %s to type %s', (script, cwd, command) => {
    const inClone = (file: string): boolean => file.startsWith('/clone/') || file.startsWith('/my clone/');
    expect(ownCommand(script, cwd, inClone)).toBe(command);
  });
});
