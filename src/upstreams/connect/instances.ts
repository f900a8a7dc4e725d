import { join } from 'node:path';
import type { Identity } from '../../domain/identity/session.ts';
import type { SessionId } from '../../domain/identity/ids.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { SecretSource } from '../../domain/ports/secret-source.ts';
import type { UpstreamOffer } from '../../domain/upstream/definition.ts';
import type { InstanceScope, Upstream } from '../../domain/upstream/upstream.ts';
import { shortSha256 } from '../../base/sha256.ts';
import { findMarkedProcesses, residentBytesOf } from '../stdio/marked-processes.ts';
import { UpstreamProblem } from '../upstream-problem.ts';
import { Instance } from './instance.ts';

export interface InstancesNeeds {
  readonly secrets: SecretSource;
  readonly log: Log;
  /** Below it each instance of a program has its home. */
  readonly folder: string;
  readonly onOffer: (instance: Instance, offer: UpstreamOffer) => void;
}

/** For whom a call is made. */
export interface InstanceUser {
  readonly identity: Pick<Identity, 'tenant' | 'subject'>;
  readonly session: SessionId;
}

const BACK_OFF_FIRST_MS = 500;
const MAX_BACK_OFF_MS = 60_000;

interface Failed {
  readonly attempts: number;
  readonly problem: string;
  readonly retryAt: number;
}

/** The connections of one worker to one server. Each is started when it is first needed, and closed when it was idle for long. */
export class Instances {
  readonly #upstream: Upstream;
  readonly #needs: InstancesNeeds;
  readonly #open = new Map<string, Instance>();
  readonly #starting = new Map<string, Promise<Instance>>();
  readonly #failed = new Map<string, Failed>();
  readonly #closing = new AbortController();

  constructor(upstream: Upstream, needs: InstancesNeeds) {
    this.#upstream = upstream;
    this.#needs = needs;
  }

  get size(): number {
    return this.#open.size + this.#starting.size;
  }

  /** Why the last start failed, while no connection is open. */
  get problem(): string | undefined {
    return this.#open.size > 0 ? undefined : [...this.#failed.values()].at(-1)?.problem;
  }

  /**
   * Returns the connection for this user, started if necessary, and counts a call on it: `release` must follow. Throws UpstreamProblem if there
   * can be none.
   */
  async acquire(user: InstanceUser): Promise<Instance> {
    const key = keyOf(this.#upstream.sharedBy, user);
    const instance = await this.#startOnce(key);
    instance.running += 1;
    return instance;
  }

  release(instance: Instance): void {
    instance.running -= 1;
    instance.lastUsedAt = performance.now();
  }

  /** Connects without a call, to learn what the server offers. */
  async look(): Promise<void> {
    const isShared = this.#upstream.sharedBy === 'everyone';
    const instance = await this.#startOnce(isShared ? EVERYONE : LOOKING);
    instance.lastUsedAt = performance.now();
    // Only a connection that everyone shares is also used for calls.
    if (!isShared) await instance.close('its definitions were read');
  }

  /** Closes idle connections, ends programs that use too much memory, and forgets failures that are over. To be called every few seconds. */
  sweep(): void {
    const now = performance.now();
    const { idleMs, memoryBytes } = this.#upstream.limits;
    for (const [key, failed] of this.#failed) if (failed.retryAt + MAX_BACK_OFF_MS < now) this.#failed.delete(key);
    for (const instance of this.#open.values())
      if (instance.running === 0 && now - instance.lastUsedAt > idleMs) void instance.close('it was idle');
    if (this.#upstream.address.kind !== 'stdio' || this.#open.size === 0) return;
    const byId = new Map([...this.#open.values()].map((instance) => [instance.id, instance]));
    for (const [id, pids] of findMarkedProcesses(new Set(byId.keys()))) {
      const bytes = residentBytesOf(pids);
      if (bytes > memoryBytes)
        byId.get(id)!.kill(`its processes use ${mebibytes(bytes)}, allowed are ${mebibytes(memoryBytes)}`);
    }
  }

  /** Compares what all open connections offer with what they offered before. */
  async compare(): Promise<void> {
    await Promise.all([...this.#open.values()].map((instance) => instance.compare()));
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#starting.values());
    await Promise.all([...this.#open.values()].map((instance) => instance.close('the worker stops')));
  }

  #startOnce(key: string): Promise<Instance> {
    const known = this.#open.get(key);
    if (known !== undefined && known.goneBecause === undefined) return Promise.resolve(known);
    let starting = this.#starting.get(key);
    if (starting === undefined) {
      starting = this.#start(key).finally(() => this.#starting.delete(key));
      this.#starting.set(key, starting);
    }
    return starting;
  }

  async #start(key: string): Promise<Instance> {
    const failed = this.#failed.get(key);
    const now = performance.now();
    if (failed !== undefined && failed.retryAt > now) {
      const seconds = Math.ceil((failed.retryAt - now) / 1000);
      throw new UpstreamProblem(`${failed.problem}; it is tried again in ${seconds} s`);
    }
    this.#closing.signal.throwIfAborted();
    await this.#makeRoom(key);
    const { secrets, log, folder, onOffer } = this.#needs;
    const instance = new Instance(this.#upstream, {
      secrets,
      log,
      home: join(folder, this.#upstream.id, shortSha256(key, 16)),
      onOffer,
      onGone: (gone) => this.#onGone(key, gone),
    });
    try {
      await instance.start(this.#closing.signal);
    } catch (error) {
      const attempts = (failed?.attempts ?? 0) + 1;
      const problem = error instanceof Error ? error.message : 'it failed';
      const retryAt = performance.now() + Math.min(BACK_OFF_FIRST_MS * 2 ** (attempts - 1), MAX_BACK_OFF_MS);
      this.#failed.set(key, { attempts, problem, retryAt });
      log.warn({ upstream: this.#upstream.id, attempts, problem }, 'an MCP server could not be started');
      throw error;
    }
    if (instance.goneBecause !== undefined) throw new UpstreamProblem(instance.goneBecause);
    this.#failed.delete(key);
    this.#open.set(key, instance);
    log.info(
      { upstream: this.#upstream.id, instance: instance.id.slice(0, 8), pid: instance.pid },
      'MCP server connected',
    );
    return instance;
  }

  /** Closes the connection that was idle for longest if there are as many as allowed. */
  async #makeRoom(key: string): Promise<void> {
    const { instances } = this.#upstream.limits;
    const others = (): number => this.#open.size + [...this.#starting.keys()].filter((one) => one !== key).length;
    while (others() >= instances) {
      const idle = [...this.#open].filter(([, { running }]) => running === 0);
      const [oldest] = idle.sort(([, a], [, b]) => a.lastUsedAt - b.lastUsedAt);
      if (oldest === undefined) throw new UpstreamProblem(`all ${instances} connections to it are in use`);
      // Taken out at once: another start must not choose the same one.
      this.#open.delete(oldest[0]);
      await oldest[1].close('its place is needed for another connection');
    }
  }

  #onGone(key: string, instance: Instance): void {
    if (this.#open.get(key) !== instance) return;
    this.#open.delete(key);
    const { log } = this.#needs;
    const because = instance.goneBecause;
    log.info({ upstream: this.#upstream.id, instance: instance.id.slice(0, 8), because }, 'MCP server disconnected');
  }
}

/** Keys of connections that belong to no tenant. No tenant has them: their keys are JSON. */
const LOOKING = 'look';
const EVERYONE = 'everyone';

function keyOf(scope: InstanceScope, { identity: { tenant, subject }, session }: InstanceUser): string {
  switch (scope) {
    case 'session':
      return JSON.stringify([tenant, subject, session]);
    case 'subject':
      return JSON.stringify([tenant, subject]);
    case 'tenant':
      return JSON.stringify([tenant]);
    case 'everyone':
      return EVERYONE;
  }
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024 / 1024)} MiB`;
}
