type Argument = string | Buffer;

/** A command as RESP in one buffer: the texts between two byte arguments are joined first and encoded once. */
export function encodeCommand(name: string, args: readonly Argument[]): Buffer {
  const parts: Argument[] = [];
  let text = `*${args.length + 1}\r\n$${name.length}\r\n${name}\r\n`;
  let maxBytes = 0;
  const add = (part: Argument): void => {
    parts.push(part);
    // A UTF-16 unit takes at most three bytes.
    maxBytes += typeof part === 'string' ? part.length * 3 : part.length;
  };
  for (const arg of args) {
    if (typeof arg === 'string') {
      text += `$${Buffer.byteLength(arg)}\r\n${arg}\r\n`;
    } else {
      add(`${text}$${arg.length}\r\n`);
      add(arg);
      text = '\r\n';
    }
  }
  add(text);
  const encoded = Buffer.allocUnsafe(maxBytes);
  let end = 0;
  for (const part of parts) end += typeof part === 'string' ? encoded.write(part, end) : part.copy(encoded, end);
  return encoded.subarray(0, end);
}
