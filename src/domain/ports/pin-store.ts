import type { Administered } from '../identity/actor.ts';
import type { UpstreamOffer } from '../upstream/definition.ts';
import type { PinsRecord, UpstreamPins } from '../upstream/pin.ts';

/** The pins of MCP servers: one versioned record for the whole deployment. Next to it, what workers saw at each server. */
export interface PinStore extends PinReader, PinWriter, OfferReports {}

export interface PinReader {
  readPins(): Promise<PinsRecord>;
  /** Returns the record if its version is above `after`. Otherwise only the version is read. */
  readNewerPins(request: { after: number }): Promise<PinsRecord | undefined>;
  /** What a worker saw at this server last; undefined if no worker has connected to it. */
  readOffer(request: { upstream: string }): Promise<SeenOffer | undefined>;
}

/** Changes the pins, for operators. */
export interface PinWriter extends PinReader {
  /** Compare-and-set, in one step with the audit record `pins.changed`: if that cannot be written, the old pins stay. */
  writePins(request: WritePinsRequest): Promise<WritePinsAnswer>;
}

/** For workers: what a server offers. It is a report and decides nothing. */
export interface OfferReports {
  reportOffer(request: { upstream: string; seen: SeenOffer }): Promise<void>;
}

export interface SeenOffer {
  /** What the server offered when it was connected for the first time. Published, as not reviewed, until an operator accepts an offer. */
  readonly first: UpstreamOffer;
  /** What it offered last. */
  readonly now: UpstreamOffer;
}

export interface WritePinsRequest extends Administered {
  readonly expectedVersion: number;
  readonly upstreams: Readonly<Record<string, UpstreamPins>>;
  /** What is different, in words, for the audit record. */
  readonly changed: readonly string[];
}

export type WritePinsAnswer =
  | { readonly kind: 'written'; readonly version: number }
  | { readonly kind: 'conflict'; readonly version: number };
