import { takeBytes } from '../../base/byte-slab.ts';

export type Argument = string | Buffer;

/**
 * Spare bytes at the end of the buffer, so that a wrong expected length is noticed. Without them, a text that has more bytes than
 * characters would be cut to exactly the expected length.
 */
const SLACK_BYTES = 8;

/**
 * Encodes a command as RESP in one buffer. The texts between two byte arguments are joined first and encoded once. Nearly all texts are ASCII, so
 * one byte per character is assumed. Bytes are counted only if that turns out to be wrong.
 */
export function encodeCommand(name: string, args: readonly Argument[]): Buffer {
  return encode(name, args, asciiLength) ?? encode(name, args, utf8Length)!;
}

function asciiLength(text: string): number {
  return text.length;
}

function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** Returns undefined when `lengthOf` did not give the number of bytes. */
function encode(name: string, args: readonly Argument[], lengthOf: (text: string) => number): Buffer | undefined {
  const texts: string[] = [];
  const between: Buffer[] = [];
  let text = `*${args.length + 1}\r\n$${name.length}\r\n${name}\r\n`;
  let bytes = 0;
  for (const arg of args) {
    if (typeof arg === 'string') {
      text += `$${lengthOf(arg)}\r\n${arg}\r\n`;
    } else {
      text += `$${arg.length}\r\n`;
      bytes += lengthOf(text) + arg.length;
      texts.push(text);
      between.push(arg);
      text = '\r\n';
    }
  }
  bytes += lengthOf(text);
  texts.push(text);
  const encoded = takeBytes(bytes + SLACK_BYTES);
  let end = 0;
  for (let index = 0; index < texts.length; index += 1) {
    const part = texts[index]!;
    const written = encoded.write(part, end);
    if (written !== lengthOf(part)) return undefined;
    end += written;
    const arg = between[index];
    if (arg === undefined) continue;
    encoded.set(arg, end);
    end += arg.length;
  }
  return encoded.subarray(0, end);
}
