// Runs in a separate thread of a tool's process, so a tool that blocks the event loop cannot stop it. When the worker is gone, even by
// SIGKILL, this kills the whole process group: this process and everything that the tool started.
import { workerData } from 'node:worker_threads';

const { workerPid } = workerData as { workerPid: number };
const LOOK_EVERY_MS = 250;

setInterval(() => {
  if (process.ppid !== workerPid) process.kill(-process.pid, 'SIGKILL');
}, LOOK_EVERY_MS);
