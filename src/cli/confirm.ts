import { createInterface } from 'node:readline/promises';

/** Somebody sits there and can read before they answer. */
export function isAtTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** Only a plain yes is one; the end of the input is a no. */
export async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<string>((resolve) => void lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `), closed]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
