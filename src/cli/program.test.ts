import { expect, it } from 'vitest';
import { commandWord, createProgram } from './program.ts';

it.each([
  [['tokens', 'create'], 'tokens'],
  [['mcp'], 'mcp'],
])('the command word of %j is %s, with any arguments', async (path, word) => {
  let action = await createProgram([path[0]!]);
  for (const name of path) action = action.commands.find((command) => command.name() === name)!;
  expect(commandWord(action)).toBe(word);
});
