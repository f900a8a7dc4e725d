// Runs the real program as a child and is invisible otherwise: one signal in is one signal out, its exit code is ours.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** One Ctrl-C arrives twice, from the terminal and from npm. A second press comes later than this. */
const SAME_PRESS_MS = 400;

/** Resolves with the exit code; a child ended by a signal gives 128 + its number, as a shell would say. */
export function runChild(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    // A process group of its own: the terminal's Ctrl-C reaches the child through us only.
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
