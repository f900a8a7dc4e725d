import { Argument, Command, Option } from 'commander';
import { expect, it } from 'vitest';
import { describeFailure } from './describe-failure.ts';

function messageOf(...args: string[]): string {
  const command = new Command('calls')
    .exitOverride()
    .configureOutput({ outputError: () => undefined })
    .addOption(new Option('--state <state>', '').choices(['live', 'settled']))
    .addArgument(new Argument('<shell>', '').choices(['bash', 'zsh', 'fish']));
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    return describeFailure(error).message;
  }
  throw new Error('it was understood');
}

it('names the choices of an argument or option, and the one that was probably meant', () => {
  expect(messageOf('basg')).toBe(
    "'basg' is invalid for <shell>. Allowed choices are bash, zsh, fish. Did you mean bash?",
  );
  expect(messageOf('bash', '--state', 'setled')).toBe(
    "option '--state <state>' argument 'setled' is invalid. Allowed choices are live, settled. Did you mean settled?",
  );
  expect(messageOf('powershell')).toBe("'powershell' is invalid for <shell>. Allowed choices are bash, zsh, fish.");
});
