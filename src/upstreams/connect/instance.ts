import { Client, type Transport } from '@modelcontextprotocol/client';
import { definitionDigest, definitionKey, type UpstreamOffer } from '../../domain/upstream/definition.ts';
import type { Upstream } from '../../domain/upstream/upstream.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { SecretSource } from '../../domain/ports/secret-source.ts';
import { RELEASE } from '../../base/release.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { Taint } from '../../worker/secrets/taint.ts';
import { readOffer } from '../read-offer.ts';
import { StdioTransport } from '../stdio/stdio-transport.ts';
import { UpstreamProblem } from '../upstream-problem.ts';
import { openTransport } from './open-transport.ts';

export interface InstanceNeeds {
  readonly secrets: SecretSource;
  readonly log: Log;
  readonly home: string;
  /** Called with what the server offers: at each connection, after each notice that a list changed, and when it is compared again. */
  readonly onOffer: (instance: Instance, offer: UpstreamOffer) => void;
  /** Called once, when the connection has ended. */
  readonly onGone: (instance: Instance) => void;
}

const LIST_NOTICES = [
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
] as const;
/** Notices that come in a burst cause one comparison. */
const SETTLE_MS = 200;
const CLOSE_MS = 5000;

/** One connection to a server, and for a program its process. */
export class Instance {
  /** A random name. For a program, the mark of all its processes. */
  readonly id = randomId();
  readonly taint = new Taint();
  readonly client: Client;
  /** Calls under way. */
  running = 0;
  lastUsedAt = performance.now();
  /** Digests of what this instance offers now, by definition. Empty until the first offer was read. */
  offered: ReadonlyMap<string, string> = new Map();
  /** Why the connection ended; undefined while it is open. */
  goneBecause: string | undefined;
  readonly #upstream: Upstream;
  readonly #needs: InstanceNeeds;
  readonly #closing = new AbortController();
  #transport: Transport | undefined;
  #comparing: Promise<void> | undefined;
  #compareAgain = false;
  #noticed: NodeJS.Timeout | undefined;

  constructor(upstream: Upstream, needs: InstanceNeeds) {
    this.#upstream = upstream;
    this.#needs = needs;
    this.client = new Client(
      { name: 'sallyport', version: RELEASE },
      {
        capabilities: {},
        // On a pipe a server of 2025 may never answer a request before `initialize`, so it is not asked for the revision of 2026.
        ...(upstream.address.kind === 'http' ? { versionNegotiation: { mode: 'auto' } } : {}),
        inputRequired: { autoFulfill: false },
      },
    );
  }

  get pid(): number | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport.pid : undefined;
  }

  /** Connects and reads the offer. Throws UpstreamProblem; then nothing is left of the instance. */
  async start(signal: AbortSignal): Promise<void> {
    const { limits } = this.#upstream;
    const { secrets, home, log } = this.#needs;
    try {
      const onPrinted = (printed: string): void =>
        log.info(
          { upstream: this.#upstream.id, instance: this.id.slice(0, 8), printed },
          'an MCP server printed a line',
        );
      const needs = { secrets, taint: this.taint, home, instance: this.id, signal, onPrinted };
      this.#transport = await openTransport(this.#upstream, needs);
      this.client.onclose = () => this.#onClose();
      this.client.onerror = (error) =>
        log.debug(
          { upstream: this.#upstream.id, problem: this.taint.scrubText(error.message.slice(0, 300), true) },
          'a message of an MCP server was not understood',
        );
      for (const notice of LIST_NOTICES) this.client.setNotificationHandler(notice, () => this.#onNotice());
      await this.client.connect(this.#transport, { timeout: limits.startMs, signal });
      await this.#read(signal);
    } catch (error) {
      const problem = this.#describe(error);
      await this.close('it could not be started');
      throw new UpstreamProblem(problem);
    }
  }

  /** Reads the offer again. Never rejects: a connection whose offer cannot be read is closed. */
  compare(): Promise<void> {
    if (this.goneBecause !== undefined) return Promise.resolve();
    if (this.#comparing !== undefined) {
      this.#compareAgain = true;
      return this.#comparing;
    }
    this.#comparing = this.#read(this.#closing.signal)
      .catch((error: unknown) => this.close(`its definitions cannot be read: ${this.#describe(error)}`))
      .finally(() => {
        this.#comparing = undefined;
        if (this.#compareAgain && this.goneBecause === undefined) {
          this.#compareAgain = false;
          void this.compare();
        }
      });
    return this.#comparing;
  }

  /** Ends the connection. Calls under way on it end as lost. */
  async close(because: string): Promise<void> {
    this.goneBecause ??= because;
    clearTimeout(this.#noticed);
    this.#closing.abort();
    const timer = setTimeout(() => this.kill(because), CLOSE_MS);
    await this.client.close().catch(() => undefined);
    clearTimeout(timer);
    this.kill(because);
  }

  /** Kills the process because of something that it did. */
  kill(because: string): void {
    this.goneBecause ??= because;
    if (this.#transport instanceof StdioTransport) this.#transport.condemn(because);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const read = await readOffer(this.client, { signal, timeoutMs: this.#upstream.limits.startMs });
    // A server knows its own credentials, and may repeat them in its texts.
    const offer = this.taint.isEmpty ? read : this.taint.scrub(read);
    this.offered = new Map(offer.definitions.map((one) => [definitionKey(one), definitionDigest(one)]));
    this.#needs.onOffer(this, offer);
  }

  #onNotice(): void {
    // The first notice decides when: a server that never stops sending them would otherwise never be compared.
    this.#noticed ??= setTimeout(() => {
      this.#noticed = undefined;
      void this.compare();
    }, SETTLE_MS).unref();
  }

  #onClose(): void {
    const ofProcess = this.#transport instanceof StdioTransport ? this.#transport.closedBecause : undefined;
    this.goneBecause ??= ofProcess ?? 'it closed the connection';
    clearTimeout(this.#noticed);
    this.#closing.abort();
    this.#needs.onGone(this);
  }

  #describe(error: unknown): string {
    const closed = this.#transport instanceof StdioTransport ? this.#transport.closedBecause : undefined;
    if (error instanceof UpstreamProblem) return this.taint.scrubText(error.message, true);
    if (closed !== undefined && closed !== 'it was closed') return closed;
    const message = error instanceof Error ? error.message : 'it failed';
    return this.taint.scrubText(message.slice(0, 300), true);
  }
}
