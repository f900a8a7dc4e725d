import { errorOutcome } from '../domain/errors/errors.ts';
import type { ToolId } from '../domain/identity/ids.ts';
import type { Outcome } from '../domain/outcome/outcome.ts';
import type { Log } from '../domain/ports/log.ts';
import type { OfferReports, PinReader, SeenOffer } from '../domain/ports/pin-store.ts';
import type { SecretSource } from '../domain/ports/secret-source.ts';
import type { ToolRunner } from '../domain/ports/tool-runner.ts';
import {
  definitionDigest,
  definitionKey,
  type UpstreamDefinition,
  type UpstreamOffer,
} from '../domain/upstream/definition.ts';
import { entriesOf } from '../domain/tool/module.ts';
import type { ToolDeclaration } from '../domain/tool/tool.ts';
import type { UpstreamPins } from '../domain/upstream/pin.ts';
import type { UpstreamHealth } from '../domain/upstream/health.ts';
import type { Upstream } from '../domain/upstream/upstream.ts';
import type { LoadedModule } from '../modules/catalog/loaded-module.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { pause } from '../base/pause.ts';
import { UpstreamRunner } from './call/upstream-runner.ts';
import type { Instance } from './connect/instance.ts';
import { Instances } from './connect/instances.ts';
import { declareUpstream, type DeclaredUpstream, type PublishedDefinition } from './declare-upstream.ts';

export interface UpstreamNeeds {
  readonly store: () => Promise<PinReader & OfferReports>;
  readonly secrets: SecretSource;
  readonly log: Log;
  /** Below it programs have their home folders. */
  readonly folder: string;
  /** The pool of upstreams that name none. */
  readonly pool: string;
  /** Wraps the runner: references to secrets are filled in, and secret arguments are masked. */
  readonly guard: (runner: ToolRunner) => ToolRunner;
}

const SWEEP_EVERY_MS = 2000;
const START_WAIT_MS = 10_000;

/** The MCP servers of one worker, as modules. */
export class Upstreams {
  readonly #served: readonly ServedUpstream[];
  readonly #needs: UpstreamNeeds;
  #pinsVersion = 0;
  #sweeping: NodeJS.Timeout | undefined;
  #sweep: Promise<void> | undefined;
  #isStopped = false;
  /** True while a change of modules could not be published. */
  #isUnpublished = false;

  constructor(upstreams: readonly Upstream[], needs: UpstreamNeeds) {
    this.#needs = needs;
    this.#served = upstreams.map((upstream) => new ServedUpstream(upstream, needs));
  }

  /** Reads what was pinned and seen before. A server that no worker has seen yet is connected now; if it fails, it is tried again later. */
  async start(): Promise<void> {
    const store = await this.#needs.store();
    const { version, upstreams } = await store.readPins();
    this.#pinsVersion = version;
    await Promise.all(
      this.#served.map(async (served) => {
        served.pins = upstreams[served.id];
        served.seen = await store.readOffer({ upstream: served.id });
        // A server that is slow to start does not delay the others. Its module is published when it has answered.
        if (served.isUnknown) await served.lookFor(START_WAIT_MS);
        served.declare();
      }),
    );
  }

  modules(): readonly LoadedModule[] {
    return this.#served.flatMap((served) => (served.module === undefined ? [] : [served.module]));
  }

  health(): UpstreamHealth[] {
    return this.#served.map((served) => served.health());
  }

  /** From now on idle connections are closed, and `onChange` is called when modules changed. */
  follow(onChange: () => Promise<void>): void {
    this.#sweeping = setInterval(() => {
      for (const served of this.#served) served.sweep();
      this.#sweep ??= this.#look(onChange)
        .catch((error: unknown) => {
          this.#needs.log.warn({ error }, 'the MCP servers could not be checked');
        })
        .finally(() => (this.#sweep = undefined));
    }, SWEEP_EVERY_MS);
  }

  /** From now on modules do not change any more. Connections stay open for the calls under way. */
  stopFollowing(): void {
    clearInterval(this.#sweeping);
    this.#isStopped = true;
  }

  async close(): Promise<void> {
    this.stopFollowing();
    await Promise.all(this.#served.map((served) => served.close()));
    await this.#sweep;
  }

  async #look(onChange: () => Promise<void>): Promise<void> {
    const store = await this.#needs.store();
    const newer = await store.readNewerPins({ after: this.#pinsVersion });
    for (const served of this.#served) {
      if (served.isUnknown) void served.look();
      if (newer !== undefined) served.pins = newer.upstreams[served.id];
    }
    if (newer !== undefined) this.#pinsVersion = newer.version;
    for (const served of this.#served) if (served.declare()) this.#isUnpublished = true;
    if (!this.#isUnpublished || this.#isStopped) return;
    await onChange();
    this.#isUnpublished = false;
  }
}

class ServedUpstream {
  readonly id: string;
  pins: UpstreamPins | undefined;
  seen: SeenOffer | undefined;
  module: LoadedModule | undefined;
  readonly #upstream: Upstream;
  readonly #needs: UpstreamNeeds;
  readonly #instances: Instances;
  readonly #runner: ToolRunner;
  #declared: DeclaredUpstream | undefined;
  #source = '';
  #published: ReadonlyMap<string, string> = new Map();
  /** Published definitions that the server offers in another form, or no more: by key, what has happened to them. */
  #changed: ReadonlyMap<string, string> = new Map();
  #waiting = 0;
  /** What each open connection offered last. */
  readonly #offers = new Map<Instance, UpstreamOffer>();
  #comparedAt = performance.now();

  constructor(upstream: Upstream, needs: UpstreamNeeds) {
    this.id = upstream.id;
    this.#upstream = upstream;
    this.#needs = needs;
    const { secrets, log, folder } = needs;
    this.#instances = new Instances(upstream, {
      secrets,
      log,
      folder,
      onOffer: (instance, offer) => this.#onOffer(instance, offer),
    });
    this.#runner = needs.guard(
      new UpstreamRunner({
        upstream: upstream.id,
        instances: this.#instances,
        definitionOf: (tool) => this.#definitionOf(tool),
        digestOf: (key) => this.#published.get(key),
      }),
    );
  }

  /** True while there is nothing that could be published: no pins, and no worker has seen the server yet. */
  get isUnknown(): boolean {
    return this.pins === undefined && this.seen === undefined;
  }

  /** Connects to learn what the server offers. Never rejects: the problem is logged, and part of the health. */
  async look(): Promise<void> {
    await this.#instances.look().catch(() => undefined);
  }

  /** Like `look`, but waits no longer than this. */
  async lookFor(ms: number): Promise<void> {
    const seen = new AbortController();
    await Promise.race([this.look(), pause(ms, seen.signal)]);
    seen.abort();
  }

  /** Makes the module from the pins, or from what was seen first. Returns whether it changed. Definitions that cannot be read change nothing. */
  declare(): boolean {
    try {
      return this.#declare();
    } catch (error) {
      this.#needs.log.error({ upstream: this.id, error }, 'the definitions of an MCP server cannot be read');
      return false;
    }
  }

  #declare(): boolean {
    const offer = this.pins ?? toPublished(this.seen);
    if (offer === undefined) return false;
    const source = canonicalJson(offer as never);
    if (source === this.#source) return false;
    this.#source = source;
    const { log, pool } = this.#needs;
    this.#declared = declareUpstream(this.#upstream, offer.server, offer.pins, pool);
    this.#published = new Map(offer.pins.map((one) => [definitionKey(one), definitionDigest(one)]));
    if (this.seen !== undefined) this.#compare(this.seen.now);
    for (const refused of this.#declared.refused)
      log.warn({ upstream: this.id, ...refused }, 'a definition of an MCP server cannot be published');
    this.module = Object.freeze({
      declaration: this.#declared.declaration,
      runner: 'inline' as const,
      file: '',
      generation: this.#declared.declaration.digest,
      setup: {},
      denialPatterns: {},
      builtIn: this.#runner,
      refusalOf: (tool: ToolId) => this.#refusalOf(tool),
    });
    return true;
  }

  sweep(): void {
    this.#instances.sweep();
    const now = performance.now();
    if (now - this.#comparedAt < this.#upstream.limits.compareMs) return;
    this.#comparedAt = now;
    // Without a connection, a quarantine would never end: the server may have been put right.
    if (this.#instances.size === 0 && this.#changed.size > 0) void this.look();
    else void this.#instances.compare();
  }

  health(): UpstreamHealth {
    const { problem } = this.#instances;
    const quarantined = [...this.#changed.keys()].sort();
    return {
      upstream: this.id,
      connections: this.#instances.size,
      waiting: this.#waiting,
      quarantined,
      ...(problem === undefined ? {} : { problem }),
    };
  }

  close(): Promise<void> {
    return this.#instances.close();
  }

  #onOffer(instance: Instance, offer: UpstreamOffer): void {
    this.#offers.set(instance, offer);
    const before = this.seen;
    this.seen = { first: before?.first ?? offer, now: offer };
    this.#compare(offer);
    if (before !== undefined && canonicalJson(before.now as never) === canonicalJson(offer as never)) return;
    this.#needs
      .store()
      .then((store) => store.reportOffer({ upstream: this.id, seen: this.seen! }))
      .catch((error: unknown) =>
        this.#needs.log.warn({ upstream: this.id, error }, 'the offer of an MCP server was not stored'),
      );
  }

  /**
   * Finds what is quarantined. A user's connection may offer something else than that of another user. Before a person is asked, only what
   * no open connection offers as published is refused; the runner checks the connection that is used.
   */
  #compare(last: UpstreamOffer): void {
    for (const instance of this.#offers.keys()) if (instance.goneBecause !== undefined) this.#offers.delete(instance);
    const offers = this.#offers.size === 0 ? [last] : [...this.#offers.values()];
    const digests = offers.map(
      ({ definitions }) => new Map(definitions.map((one) => [definitionKey(one), definitionDigest(one)])),
    );
    const changed = new Map<string, string>();
    for (const [key, digest] of this.#published) {
      if (digests.some((offered) => offered.get(key) === digest)) continue;
      changed.set(key, digests.every((offered) => !offered.has(key)) ? 'is gone' : 'has changed');
    }
    const offered = new Set(digests.flatMap((one) => [...one.keys()]));
    this.#waiting = [...offered].filter((key) => !this.#published.has(key)).length + changed.size;
    for (const [key, what] of changed) {
      if (this.#changed.get(key) !== what)
        this.#needs.log.warn(
          { upstream: this.id, definition: key, what },
          'a definition of an MCP server is quarantined',
        );
    }
    this.#changed = changed;
  }

  /** Undefined for an entry that is published in another form by now: a call was judged, and perhaps approved, for exactly one form. */
  #definitionOf({ id, digest }: ToolDeclaration): UpstreamDefinition | undefined {
    const declared = this.#declared;
    const current = declared && entriesOf(declared.declaration).find((entry) => entry.id === id);
    return current?.digest === digest ? declared?.definitions.get(id) : undefined;
  }

  #refusalOf(tool: ToolId): Outcome | undefined {
    if (this.#changed.size === 0) return undefined;
    const definition = this.#declared?.definitions.get(tool);
    const change = definition === undefined ? undefined : this.#changed.get(definitionKey(definition));
    if (change === undefined) return undefined;
    return errorOutcome('TOOL_QUARANTINED', { tool, upstream: this.id, change });
  }
}

interface Publishable {
  readonly server: UpstreamPins['server'];
  readonly pins: readonly PublishedDefinition[];
}

/** Until an operator accepts an offer, what the server offered first is published, as not reviewed. A later change of it waits. */
function toPublished(seen: SeenOffer | undefined): Publishable | undefined {
  if (seen === undefined) return undefined;
  // Only these members: a report of a worker must not be able to say that an operator accepted something.
  const pins = seen.first.definitions.map(({ kind, name, body }) => ({ kind, name, body }));
  return { server: seen.first.server, pins };
}
