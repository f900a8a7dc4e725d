import { chmodSync, closeSync, openSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { openingError } from '../sqlite/database.ts';
import { GroupCommit } from './group-commit.ts';
import { Lane } from './lane.ts';
import {
  makeSocketPath,
  readOnlyError,
  refuseReadOnly,
  removePlaneAddress,
  storeFile,
  takeOwnership,
  watchPlace,
  writePlaneAddress,
} from './ownership.ts';
import { carryError, encodeFrame, FrameReader, PROTOCOL_VERSION, writeFrame, type Hello } from './rpc.ts';
import { closeStoreFile, openStoreFile, type StoreFile } from './schema.ts';
import { StoreClock } from './store-clock.ts';
import { StorePeer } from './store-peer.ts';
import { lostStore, refuseLostStore, tracesOfStore, writeStoreId } from './store-traces.ts';
import { CLOSE, type ThreadMessage } from './thread-messages.ts';

/**
 * The thread that owns the store's file, runs the transitions and serves the socket. A tool that blocks the main thread therefore blocks neither
 * leases nor other processes. The main thread is its first client.
 */
async function runStoreThread(port: MessagePort, folder: string): Promise<void> {
  const send = (message: ThreadMessage): void => port.postMessage(message);
  try {
    refuseReadOnly(folder);
    const ownership = takeOwnership(folder);
    if (ownership === undefined) {
      send({ kind: 'owned-by-another' });
      port.close();
      return;
    }
    const traces = tracesOfStore(folder);
    refuseLostStore(folder, traces);
    // Remove the address that a killed owner left, before the store is opened, so that no other process gets the old pid.
    removePlaneAddress(folder);
    const opened = openStore(folder, traces);
    const server = await serveSocket(folder, opened);
    servePort(port, opened, async () => {
      await server.stop();
      closeStoreFile(opened.file);
      removePlaneAddress(folder);
      ownership.release();
      port.close();
    });
    send({ kind: 'ready', hello: opened.hello });
  } catch (error) {
    send({ kind: 'failed', error: carryError(readOnlyError(error) ?? error) });
    // In a worker thread this ends only the thread. It releases the lock and everything else that is open.
    process.exit(1);
  }
}

const CLOSE_GRACE_MS = 1_000;

interface OpenedStore {
  readonly file: StoreFile;
  readonly groupCommit: GroupCommit;
  readonly hello: Hello;
}

function openStore(folder: string, traces: readonly string[]): OpenedStore {
  const path = storeFile(folder);
  // Create the file before SQLite does: the log that SQLite puts next to it gets the same mode.
  closeSync(openSync(path, 'a', 0o600));
  chmodSync(path, 0o600);
  const file = openStoreFile(path, {
    ifNew() {
      if (traces.length > 0) throw lostStore(folder, traces);
    },
  });
  const { database, incarnation, lanes } = file;
  const lane = readLane(path, database, incarnation);
  const clock = new StoreClock(lane.clock);
  const identity = { incarnation, openedAt: clock.now(), isInPlace: watchPlace(path) };
  writeStoreId(folder, incarnation);
  const groupCommit = new GroupCommit({ database, lane, clock, file: identity });
  return { file, groupCommit, hello: { protocol: PROTOCOL_VERSION, pid: process.pid, incarnation, lanes } };
}

function readLane(path: string, database: StoreFile['database'], incarnation: string): Lane {
  try {
    return new Lane(database, incarnation);
  } catch (error) {
    throw openingError(path, error);
  }
}

/**
 * Returns the function that copies the store's file. A repeated request copies from the beginning: the answer to the earlier request was
 * lost.
 */
function copierOf({ database }: StoreFile): (path: string) => Promise<void> {
  return async (path) => {
    rmSync(path, { force: true });
    closeSync(openSync(path, 'wx', 0o600));
    await database.copyTo(path);
  };
}

/** Serves the main thread of this process. */
function servePort(port: MessagePort, { groupCommit, file }: OpenedStore, end: () => Promise<void>): void {
  const peer = new StorePeer(groupCommit, (frame) => port.postMessage(frame, [frame.buffer]), copierOf(file));
  port.on('message', (message: Uint8Array | typeof CLOSE) => {
    if (message !== CLOSE) {
      peer.receive(message);
      return;
    }
    groupCommit.close();
    peer.flush();
    void end();
  });
}

/** Serves all other processes. */
async function serveSocket(
  folder: string,
  { groupCommit, hello, file }: OpenedStore,
): Promise<{ stop(): Promise<void> }> {
  const connections = new Map<Socket, StorePeer>();
  const server = createServer((socket) => {
    const peer = new StorePeer(groupCommit, (frame) => writeFrame(socket, frame), copierOf(file));
    const reader = new FrameReader((frame) => peer.receive(frame));
    connections.set(socket, peer);
    socket.on('data', (chunk) => {
      try {
        reader.push(chunk);
      } catch {
        // The peer is not a client of this program, or is broken: none of its further frames can be read.
        socket.destroy();
      }
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      connections.delete(socket);
      peer.leave();
    });
    writeFrame(socket, encodeFrame(hello));
  });
  const path = makeSocketPath();
  await listen(server, path);
  chmodSync(path, 0o600);
  writePlaneAddress(folder, path);
  return { stop: () => stopServer(server, connections) };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
}

async function stopServer(server: Server, connections: ReadonlyMap<Socket, StorePeer>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const [socket, peer] of connections) {
    peer.flush();
    // The socket is ended and not destroyed at once: the last answers are still being sent.
    socket.end(() => socket.destroy());
  }
  // A client that does not read its last answers within the grace period does not delay the stop.
  const grace = setTimeout(() => {
    for (const socket of connections.keys()) socket.destroy();
  }, CLOSE_GRACE_MS);
  await closed;
  clearTimeout(grace);
}

if (parentPort !== null) await runStoreThread(parentPort, (workerData as { folder: string }).folder);
