const EVERY_MS = 5000;

/** Shows one changing line on a terminal, and a line every few seconds elsewhere. If stdout is for JSON, everything goes to stderr. */
export function createProgress(json: boolean) {
  const stream = json ? process.stderr : process.stdout;
  let saidAt = -Infinity;
  return {
    show(line: string): void {
      if (stream.isTTY) {
        stream.write(`\r\x1b[K${line.slice(0, Math.max(20, stream.columns - 1))}`);
        return;
      }
      if (performance.now() - saidAt < EVERY_MS) return;
      saidAt = performance.now();
      stream.write(`${line}\n`);
    },
    clear(): void {
      if (stream.isTTY) stream.write('\r\x1b[K');
    },
    say(line: string): void {
      stream.write(`${line}\n`);
    },
  };
}
