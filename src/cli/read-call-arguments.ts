import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { JSON_LIMITS, parseStrictJson } from '../base/strict-json.ts';
import { usage } from './command-failure.ts';

const STDIN_WITHIN_MS = 30_000;
const FIX = 'Give a JSON object, @FILE, or @- for standard input.';

/**
 * Reads call arguments: JSON text, `@file`, or `@-` for standard input. Parses strictly. A
 * file that is too large is rejected before it is read, standard input while it is read.
 */
export async function readCallArguments(given: string): Promise<JsonObject> {
  const source = given === '@-' ? await readStandardInput() : given.startsWith('@') ? readFile(given.slice(1)) : given;
  const parsed = parseStrictJson(source);
  if (!parsed.ok) {
    const { problem, position } = parsed.error;
    throw usage(
      `The arguments cannot be used: ${problem}${position === undefined ? '' : ` (character ${position + 1})`}.`,
      FIX,
    );
  }
  if (!isJsonObject(parsed.value)) throw usage('The arguments must be a JSON object.', FIX);
  return parsed.value;
}

/** Opens a file without blocking, so that neither a FIFO nor a device can make the command hang. Accepts only regular files. */
function readFile(path: string): Uint8Array {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw usage(`${path} cannot be opened (${(error as NodeJS.ErrnoException).code}).`, FIX);
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw usage(`${path} is not a regular file.`, FIX);
    if (facts.size > JSON_LIMITS.bytes) throw tooLarge(path);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function tooLarge(what: string): Error {
  return usage(`${what} has more than ${JSON_LIMITS.bytes} bytes.`, 'Send less, or a reference to the data.');
}

/** Reads standard input to its end, with a limit on size and time. Rejects a terminal. */
export async function readStandardInput(): Promise<Uint8Array> {
  if (process.stdin.isTTY) throw usage('Standard input is a terminal.', 'Pipe it in, or give a file.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  const slow = setTimeout(
    () => process.stdin.destroy(usage(`Standard input did not end within ${STDIN_WITHIN_MS / 1000} s.`)),
    STDIN_WITHIN_MS,
  );
  try {
    for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > JSON_LIMITS.bytes) throw tooLarge('Standard input');
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(slow);
  }
  return Buffer.concat(chunks);
}
