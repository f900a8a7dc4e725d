import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandFailure } from '../../src/cli/command-failure.ts';
import { readCallArguments } from '../../src/cli/read-call-arguments.ts';
import { checkArguments } from '../../src/domain/call/check-arguments.ts';
import { COMMON_BAD_INPUT } from '../fixtures/bad-input/common.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';

let folder: TemporaryFolder;
beforeAll(() => void (folder = temporaryFolder('sallyport-arguments')));
afterAll(() => folder.remove());

const WRITTEN = COMMON_BAD_INPUT.flatMap(({ id, what, input, answer }) =>
  input.kind === 'value'
    ? []
    : [[`${id} ${what}`, input.kind === 'text' ? Buffer.from(input.text) : input.bytes, answer] as const],
);

/** Whether the command line, and behind it the client library, accept a file with these arguments. */
async function answerTo(bytes: Uint8Array): Promise<'refused' | 'accepted'> {
  const path = join(folder.path, 'arguments.json');
  writeFileSync(path, bytes);
  try {
    return checkArguments(await readCallArguments(`@${path}`)).ok ? 'accepted' : 'refused';
  } catch (error) {
    if (error instanceof CommandFailure && error.exitCode === 2) return 'refused';
    throw error;
  }
}

describe('readCallArguments', () => {
  it.each(WRITTEN)('has the common answer to %s', async (_, bytes, answer) => {
    // The `schema` rows are refused only by the tool's schema, which the worker checks, not the command line.
    expect(await answerTo(bytes)).toBe(answer === 'ok' || answer === 'schema' ? 'accepted' : 'refused');
  });
});
