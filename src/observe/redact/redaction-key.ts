import { randomBytes } from 'node:crypto';

/** The key that marks are made with. A holder of this key can test guesses about the secret behind a mark. */
export interface RedactionKey {
  /** Part of every mark except those of the first key, so that marks of different keys are never mistaken for equal. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

const KEY_BYTES = 32;
const LINE = /^([A-Za-z0-9]{1,16}) ([A-Za-z0-9_-]{43,86})$/;

export function newRedactionKey(id = '1'): RedactionKey {
  return { id, bytes: randomBytes(KEY_BYTES) };
}

export function writeKeyLine({ id, bytes }: RedactionKey): string {
  return `${id} ${Buffer.from(bytes).toString('base64url')}\n`;
}

/** Reads a key file. The first line is the current key; the lines below are earlier keys. Undefined if the text is no such file. */
export function readKeyLines(text: string): readonly [RedactionKey, ...RedactionKey[]] | undefined {
  const keys = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, id, key] = LINE.exec(line.trimEnd()) ?? [];
      return id === undefined || key === undefined ? undefined : { id, bytes: Buffer.from(key, 'base64url') };
    });
  const ids = new Set(keys.map((key) => key?.id));
  const [first, ...rest] = keys;
  if (first === undefined || rest.includes(undefined) || ids.size !== keys.length) return undefined;
  return [first, ...(rest as RedactionKey[])];
}
