import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';

/** @internal */
export const MAX_FILE_BYTES = 1024 * 1024;
const BOM = '\ufeff';

export type ReadClientText =
  | {
      readonly kind: 'read';
      /** Without the byte order mark. */
      readonly text: string;
      /** The byte order mark, or nothing. With the text it gives the bytes of the file. */
      readonly bom: string;
      readonly bytes: Buffer;
    }
  | { readonly kind: 'problem'; readonly problem: string; readonly absent: boolean };

/** Reads a file of a client. The file is opened without waiting, because a FIFO would block forever, and it is read only up to its limit. */
export function readClientText(path: string): ReadClientText {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    return problem(code === 'ENOENT' ? 'the file does not exist' : `it cannot be opened (${code})`, code === 'ENOENT');
  }
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) return problem('it is not a regular file');
    if (facts.size > MAX_FILE_BYTES) return problem(`it has ${facts.size} bytes, the limit is ${MAX_FILE_BYTES}`);
    return decode(readFileSync(file));
  } catch (error) {
    return problem(`it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  } finally {
    closeSync(file);
  }
}

function decode(bytes: Buffer): ReadClientText {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(BOM)
      ? { kind: 'read', text: text.slice(1), bom: BOM, bytes }
      : { kind: 'read', text, bom: '', bytes };
  } catch {
    return problem('it is not UTF-8 text');
  }
}

function problem(text: string, absent = false): ReadClientText {
  return { kind: 'problem', problem: text, absent };
}
