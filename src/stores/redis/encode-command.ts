import { takeBytes } from '../../wire/byte-slab.ts';

export type Argument = string | Buffer;

/** Room behind the text, so that text which is longer in bytes than in characters cannot come out as long as it should be. */
const SLACK_BYTES = 8;

/**
 * A command as RESP in one buffer: the texts between two byte arguments are joined first and encoded once. Nearly all texts are
 * ASCII, so their lengths are taken for granted, and only if the bytes turn out to be more are they counted.
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

/** Undefined when the lengths were not those of the bytes. */
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
