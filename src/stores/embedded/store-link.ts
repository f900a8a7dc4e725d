import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { planeError } from '../../domain/errors/errors.ts';
import type { PlaneAddress } from './ownership.ts';
import { decodeFrame, FrameReader, PROTOCOL_VERSION, rebuildError, writeFrame, type Hello } from './rpc.ts';
import { CLOSE, type ThreadMessage } from './thread-messages.ts';

/** A connection to the store thread: a message port inside its process, a socket from other processes. */
export interface StoreLink {
  readonly role: 'owner' | 'client';
  readonly hello: Hello;
  send(frame: Uint8Array<ArrayBuffer>): void;
  /** Resolves when the link is fully closed; for the owner, when other processes can open the file. */
  close(): Promise<void>;
}

export interface LinkEvents {
  readonly onFrame: (frame: Uint8Array) => void;
  /** Called once for each link that was opened, also after its `close`. */
  readonly onLost: (problem: string) => void;
}

/** Starts the thread that owns the store; returns undefined when another process (or another store of this one) owns it. */
export function openThreadLink(folder: string, events: LinkEvents): Promise<StoreLink | undefined> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(threadScript(), { name: 'sallyport-store', workerData: { folder }, execArgv: [] });
    const exited = new Promise<void>((done) => worker.once('exit', () => done()));
    let problem = 'its thread ended';
    let ready = false;
    let refused = false;
    let failure: Error | undefined;
    const onAnswer = (message: ThreadMessage): void => {
      if (message.kind === 'owned-by-another') refused = true;
      // The failure is reported when the thread has ended: until then it may still have the file open.
      else if (message.kind === 'failed') failure = rebuildError(message.error);
      else {
        ready = true;
        worker.on('message', events.onFrame);
        resolve({
          role: 'owner',
          hello: message.hello,
          send: (frame) => worker.postMessage(frame, [frame.buffer]),
          close: () => {
            worker.postMessage(CLOSE);
            return exited;
          },
        });
      }
    };
    worker.once('message', onAnswer);
    worker.once('error', (error) => {
      problem = `its thread failed: ${error instanceof Error ? error.message : String(error)}`;
    });
    worker.once('exit', () => {
      if (ready) events.onLost(problem);
      else if (refused) resolve(undefined);
      else reject(failure ?? planeError('STORE_UNAVAILABLE', { problem }));
    });
  });
}

const CLOSE_GRACE_MS = 1_000;

/**
 * Connects to the owner; returns undefined when no process listens at the address any more. Throws STORE_UNAVAILABLE when the owner does not
 * greet in time: the system accepts connections for a process that is stopped.
 */
export function openSocketLink(
  address: PlaneAddress,
  greetWithinMs: number,
  events: LinkEvents,
): Promise<StoreLink | undefined> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(address.socket);
    const closed = new Promise<void>((done) => socket.once('close', () => done()));
    let greeted = false;
    const silence = setTimeout(() => {
      const problem = `the process that owns it (pid ${address.pid}) did not answer within ${greetWithinMs} ms`;
      reject(planeError('STORE_UNAVAILABLE', { problem }));
      socket.destroy();
    }, greetWithinMs);
    const greet = (frame: Uint8Array): void => {
      greeted = true;
      clearTimeout(silence);
      const hello = decodeFrame(frame) as Hello;
      if (hello.protocol !== PROTOCOL_VERSION) {
        reject(planeError('STORE_VERSION', { found: String(hello.protocol), known: String(PROTOCOL_VERSION) }));
        socket.destroy();
        return;
      }
      resolve({
        role: 'client',
        hello,
        send: (message) => writeFrame(socket, message),
        close: async () => {
          // Messages that were sent before still go out, unless the owner has stopped reading.
          const grace = setTimeout(() => socket.destroy(), CLOSE_GRACE_MS);
          socket.end();
          await closed;
          clearTimeout(grace);
        },
      });
    };
    const reader = new FrameReader((frame) => (greeted ? events.onFrame(frame) : greet(frame)));
    socket.on('data', (chunk) => reader.push(chunk));
    // The event 'close' follows every error, whether the connection was refused, reset, or ended by the owner.
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(silence);
      if (greeted) events.onLost(`the process that owns it (pid ${address.pid}) is gone`);
      else resolve(undefined);
    });
  });
}

/**
 * The oldest supported Node (22.16) runs no TypeScript without an option, and the thread gets no options. So when this file runs from the
 * sources, the built thread is used.
 */
function threadScript(): URL {
  const beside = new URL('./store-thread.js', import.meta.url);
  if (import.meta.url.endsWith('.js')) return beside;
  const built = new URL('../../../dist/stores/embedded/store-thread.js', import.meta.url);
  if (!existsSync(built)) throw new Error(`${fileURLToPath(built)} is missing. Run: npm run build`);
  return built;
}
