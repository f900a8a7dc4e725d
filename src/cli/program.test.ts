import { expect, it } from 'vitest';
import { commandWords, createProgram } from './program.ts';

it.each([
  [['tokens', 'create'], 'tokens create'],
  [['gateway', 'login-link'], 'gateway login-link'],
  [['mcp'], 'mcp'],
])('the command words of %j are %s', async (path, words) => {
  let action = await createProgram([path[0]!]);
  for (const name of path) action = action.commands.find((command) => command.name() === name)!;
  expect(commandWords(action)).toBe(`sallyport ${words}`);
});
