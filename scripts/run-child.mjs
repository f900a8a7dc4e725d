// Runs a program as a child process as if it had been started directly: each signal is forwarded once, and the exit code of the child is
// returned, for use as this process's own.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** One Ctrl-C arrives twice: from the terminal and from npm. A signal within this time of the last one is the same key press. */
const SAME_PRESS_MS = 400;

/** Resolves with the exit code. If a signal ended the child, that is 128 + the signal's number, as in a shell. */
export function runChild(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    // A process group of its own: the terminal's Ctrl-C reaches the child only through this process.
    const child = spawn(command, args, { stdio: 'inherit', detached: true, ...options });
    const handlers = new Map();
    let lastMs = -Infinity;
    const forward = (signal) => {
      const nowMs = performance.now();
      if (nowMs - lastMs < SAME_PRESS_MS) return;
      lastMs = nowMs;
      child.kill(signal);
    };
    for (const [received, sent] of [
      ['SIGINT', 'SIGINT'],
      ['SIGTERM', 'SIGTERM'],
      ['SIGHUP', 'SIGTERM'],
    ]) {
      handlers.set(received, () => forward(sent));
      process.on(received, handlers.get(received));
    }
    const end = () => {
      for (const [signal, handler] of handlers) process.off(signal, handler);
    };
    child.once('error', (error) => {
      end();
      reject(error);
    });
    child.once('exit', (code, signal) => {
      end();
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}
