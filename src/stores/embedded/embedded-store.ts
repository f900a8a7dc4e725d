import { resolve } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';
import { DEFAULT_FOLDER } from '../../domain/default-folder.ts';
import type { TrailStore } from '../../domain/ports/store.ts';
import { refuseForeignSocket, refuseUnsafeFolder } from './check-folder.ts';
import { readPlaneAddress, storeFile } from './ownership.ts';
import { StoreClient } from './store-client.ts';
import { COPY_METHOD } from './rpc.ts';
import { STORE_METHODS, type StoreMethod } from './store-methods.ts';
import { openSocketLink, openThreadLink, type LinkEvents, type StoreLink } from './store-link.ts';
import { pause } from '../../base/pause.ts';

export interface EmbeddedStoreOptions {
  /** The folder of the store's files. Default: `.sallyport` in the working directory. */
  readonly folder?: string;
  /**
   * `own` opens the file. `connect` connects to the process that has it open. `auto` connects if there is such a process, and otherwise
   * opens the file.
   */
  readonly mode?: 'own' | 'connect' | 'auto';
  /** How long a request waits for the next owner after the last one has ended. */
  readonly patienceMs?: number;
  /** How long the owner may take to greet a new connection, and to answer a request in addition to the time that the request asked to wait. */
  readonly answerWithinMs?: number;
}

export interface EmbeddedStore extends TrailStore {
  /** Whether this process has the file open now. In mode `auto` this can change when another owner ends. */
  readonly role: 'owner' | 'client' | undefined;
  /** Makes the owner copy its file, as it is after some commit, to a new file. Other requests continue meanwhile. */
  copyTo(file: string): Promise<void>;
}

/** How long to wait while an owner starts or ends: for a moment it can be neither reached nor replaced. */
const SETTLE_WITHIN_MS = 10_000;
const TRY_EVERY_MS = 25;
/** Enough for a copy of the largest store on a slow disk. */
const COPY_WITHIN_MS = 30 * 60_000;
const DEFAULT_PATIENCE_MS = 15_000;
const DEFAULT_ANSWER_WITHIN_MS = 30_000;

/** The whole store in one SQLite file. One process owns it and serves the others over a unix socket. */
export async function openEmbeddedStore(options: EmbeddedStoreOptions = {}): Promise<EmbeddedStore> {
  const folder = resolve(options.folder ?? DEFAULT_FOLDER);
  const mode = options.mode ?? 'auto';
  const { patienceMs = DEFAULT_PATIENCE_MS, answerWithinMs = DEFAULT_ANSWER_WITHIN_MS } = options;
  let incarnation: string | undefined;
  const open = async (events: LinkEvents): Promise<StoreLink> => {
    // When the store is opened with `connect`, a missing owner is reported at once. Later, requests wait for the next owner, each for up to
    // `patienceMs`.
    const settleMs = incarnation === undefined && mode !== 'connect' ? SETTLE_WITHIN_MS : 0;
    const link = await openLink({ folder, mode, answerWithinMs }, events, settleMs);
    incarnation ??= link.hello.incarnation;
    if (link.hello.incarnation === incarnation) return link;
    await link.close();
    throw planeError('STORE_REPLACED', {
      expected: `incarnation ${incarnation}`,
      found: `incarnation ${link.hello.incarnation}`,
    });
  };
  const client = new StoreClient(open, { patienceMs, answerWithinMs });
  const { hello } = await client.connect();
  const request = (method: StoreMethod) => (argument?: unknown) => client.request(method, argument);
  const methods = Object.fromEntries(STORE_METHODS.map((method) => [method, request(method)]));
  return {
    // The store thread implements each method with the types of the port; see `transitions.ts`.
    ...(methods as unknown as Pick<TrailStore, StoreMethod>),
    lanes: hello.lanes,
    auditLanes: Array.from({ length: hello.lanes }, (_, lane) => lane),
    checkIncarnation: async () => void (await client.request('checkIncarnation', hello.incarnation)),
    copyTo: async (file) => void (await client.request(COPY_METHOD, { file, waitMs: COPY_WITHIN_MS })),
    close: () => client.close(),
    get role() {
      return client.role;
    },
  };
}

type LinkOptions = Required<Pick<EmbeddedStoreOptions, 'folder' | 'mode' | 'answerWithinMs'>>;

async function openLink(options: LinkOptions, events: LinkEvents, settleMs: number): Promise<StoreLink> {
  const { folder, mode } = options;
  const giveUpAt = performance.now() + settleMs;
  for (;;) {
    const link = await tryOnce(options, events);
    if (link !== undefined) return link;
    const address = readPlaneAddress(folder);
    if (mode === 'own' && address !== undefined) {
      throw planeError('STORE_OWNED', { file: storeFile(folder), pid: address.pid });
    }
    if (performance.now() >= giveUpAt) {
      const problem = `nobody serves ${storeFile(folder)}${address === undefined ? '' : ` (pid ${address.pid} did)`}`;
      throw planeError('STORE_UNAVAILABLE', { problem });
    }
    await pause(TRY_EVERY_MS);
  }
}

async function tryOnce(
  { folder, mode, answerWithinMs }: LinkOptions,
  events: LinkEvents,
): Promise<StoreLink | undefined> {
  refuseUnsafeFolder(folder);
  const address = mode === 'own' ? undefined : readPlaneAddress(folder);
  if (address !== undefined) refuseForeignSocket(address.socket);
  const link = address === undefined ? undefined : await openSocketLink(address, answerWithinMs, events);
  return link ?? (mode === 'connect' ? undefined : openThreadLink(folder, events));
}
