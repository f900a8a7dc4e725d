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

it.each([
  ['EEXIST', "EEXIST: file already exists, mkdir 'keys'", 'there is something of that name already'],
  ['ENOTDIR', "ENOTDIR: not a directory, mkdir 'file/keys'", 'a part of the path is not a folder'],
  ['EISDIR', "EISDIR: illegal operation on a directory, open 'keys'", 'it is a folder'],
  ['ENAMETOOLONG', "ENAMETOOLONG: name too long, open 'kkk'", 'the name is too long'],
])('a path given by the user that leads to %s is not reported as a defect', (code, message, sentence) => {
  const error = Object.assign(new Error(message), { code });
  expect(describeFailure(error)).toStrictEqual({
    code,
    message: `${sentence} (${message})`,
    fix: 'Name another file or folder.',
    exitCode: 69,
  });
});
