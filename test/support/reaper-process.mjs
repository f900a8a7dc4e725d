// Runs next to a test process and outlives it by a moment. Its standard input is a pipe that the test process holds, so it
// ends when that process is gone, however it ended (including by SIGKILL, where no exit handler runs). JavaScript, not
// TypeScript, because Node 20 has to run it as it is.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';

const pids = new Set();
const folders = new Set();

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { verb, pid, folder } = JSON.parse(line);
  const [set, item] = pid === undefined ? [folders, folder] : [pids, pid];
  if (verb === 'watch') set.add(item);
  else set.delete(item);
});

lines.on('close', () => {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process is already gone: nothing leaked.
    }
  }
  for (const folder of folders) {
    // A server that was killed a moment ago may still have its last file open, so retry a few times.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  }
});
