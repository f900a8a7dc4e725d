// Runs in a thread of a tool's process, where a tool that blocks its event loop cannot hold it up. When the worker is gone,
// even by SIGKILL, the whole process group goes too: this process and everything the tool started.
import { workerData } from 'node:worker_threads';

const { workerPid } = workerData as { workerPid: number };
const LOOK_EVERY_MS = 250;

setInterval(() => {
  if (process.ppid !== workerPid) process.kill(-process.pid, 'SIGKILL');
}, LOOK_EVERY_MS);
