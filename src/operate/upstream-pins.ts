import type { Administered } from '../domain/identity/actor.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { PinReader, PinWriter } from '../domain/ports/pin-store.ts';
import type { UpstreamOffer } from '../domain/upstream/definition.ts';
import type { UpstreamPins } from '../domain/upstream/pin.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { sha256 } from '../base/sha256.ts';
import { accept, type AcceptChoice } from '../upstreams/pins/accept.ts';
import { compareOffer, type ComparedDefinition } from '../upstreams/pins/compare-offer.ts';
import { findSuspicions, type Suspicion } from '../upstreams/pins/suspect-texts.ts';

/** How one MCP server stands: what was accepted, and what it offers now. */
export interface UpstreamView {
  readonly id: string;
  readonly pins: UpstreamPins | undefined;
  /** What it offered when a worker connected to it last. Absent: no worker has connected yet. */
  readonly offer: UpstreamOffer | undefined;
  /** All definitions, each with its pin and what is offered now. */
  readonly definitions: readonly ComparedDefinition[];
  /** Members of what the server says about itself that differ from what was accepted. */
  readonly server: readonly string[];
}

/** Reads how the MCP servers stand. `configured` are the ids of the configuration; those that have pins are added. */
export async function viewUpstreams(store: PinReader, configured: readonly string[]): Promise<UpstreamView[]> {
  const { upstreams } = await store.readPins();
  const ids = [...new Set([...configured, ...Object.keys(upstreams)])].sort();
  return Promise.all(ids.map((id) => viewOf(store, id, upstreams[id])));
}

export async function viewUpstream(store: PinReader, id: string, configured: readonly string[]): Promise<UpstreamView> {
  const { upstreams } = await store.readPins();
  const view = await viewOf(store, id, upstreams[id]);
  if (view.pins === undefined && view.offer === undefined && !configured.includes(id))
    throw planeError('UPSTREAM_UNKNOWN', {
      upstream: id,
      known: [...new Set([...configured, ...Object.keys(upstreams)])],
    });
  return view;
}

async function viewOf(store: PinReader, id: string, pins: UpstreamPins | undefined): Promise<UpstreamView> {
  const seen = await store.readOffer({ upstream: id });
  const offer = seen?.now;
  const { definitions, server } = compareOffer(
    pins,
    offer ?? { server: pins?.server ?? {}, definitions: pins?.pins ?? [] },
  );
  return { id, pins, offer, definitions, server };
}

/** Texts of the offer that a person should read before accepting it. */
export async function suspicionsOf(store: PinReader, { id, offer }: UpstreamView): Promise<Suspicion[]> {
  if (offer === undefined) return [];
  const { upstreams } = await store.readPins();
  const others = Object.entries(upstreams).filter(([other]) => other !== id);
  return findSuspicions(
    offer,
    others.map(([other, { pins }]) => ({ id: other, names: pins.map(({ name }) => name) })),
  );
}

/** Short name of exactly this offer, for an operator who accepts what was shown and nothing else. */
export function offerMark(offer: UpstreamOffer): string {
  return sha256(canonicalJson(offer as never)).slice(0, 16);
}

export interface AcceptedPins {
  readonly version: number;
  readonly changes: readonly string[];
}

const MAX_ATTEMPTS = 10;

/**
 * Accepts what a server offers now, or parts of it. The pins of other servers, and definitions that are not chosen, stay as they
 * are.
 */
export async function acceptOffer(
  store: PinWriter,
  id: string,
  choice: AcceptChoice,
  who: Administered,
  shown?: string,
): Promise<AcceptedPins> {
  for (let attempt = 1; ; attempt += 1) {
    const { version, upstreams } = await store.readPins();
    const seen = await store.readOffer({ upstream: id });
    if (seen === undefined) throw planeError('UPSTREAM_UNSEEN', { upstream: id });
    // The server may have changed what it offers after the operator has read it.
    if (shown !== undefined && shown !== offerMark(seen.now))
      throw planeError('UPSTREAM_OFFER_CHANGED', { upstream: id });
    const { next, changes } = accept(upstreams[id], seen.now, choice);
    if (changes.length === 0) return { version, changes };
    const changed = changes.map((change) => `${id}: ${change}`);
    const written = await store.writePins({
      ...who,
      expectedVersion: version,
      upstreams: { ...upstreams, [id]: next },
      changed,
    });
    if (written.kind === 'written') return { version: written.version, changes };
    // Another operator was faster. What they accepted is read again, and stays.
    if (attempt === MAX_ATTEMPTS) throw planeError('STORE_FAILED', { problem: 'the pins changed during each attempt' });
  }
}
