import { describe, expect, it } from 'vitest';
import { ownCommand } from './own-command.ts';

describe('ownCommand', () => {
  it.each([
    ['/clone/dist/cli/main.js', '/clone', 'node dist/cli/main.js'],
    ['/my clone/dist/cli/main.js', '/my clone/sub', 'node ../dist/cli/main.js'],
    ['/my clone/dist/cli/main.js', '/', "node 'my clone/dist/cli/main.js'"],
    ['/app/node_modules/.bin/sallyport', '/app', 'npx sallyport'],
    ['/usr/local/bin/sallyport', '/app', 'sallyport'],
  ])('tells for %s in %s to type %s', (script, cwd, command) => {
    expect(ownCommand(script, cwd)).toBe(command);
  });
});
