import type { Effect } from '../tool/tool.ts';
import type { JsonObject } from '../../base/json.ts';
import type { UpstreamDefinition } from './definition.ts';

/** What an operator decided about a definition, and for exactly which bytes. */
export interface UpstreamPin extends UpstreamDefinition {
  /** SHA-256 of kind and body: see `definitionDigest`. */
  readonly digest: string;
  /** What a second run of the tool would do, as the operator accepted it. The server's annotations only suggest it. */
  readonly effect: Effect;
}

/** All accepted definitions of one server. */
export interface UpstreamPins {
  readonly server: JsonObject;
  readonly pins: readonly UpstreamPin[];
}

/** The pins of all servers, by the id of the upstream: one versioned record for the whole deployment. */
export interface PinsRecord {
  readonly version: number;
  readonly upstreams: Readonly<Record<string, UpstreamPins>>;
}

export const NO_PINS: PinsRecord = Object.freeze({ version: 0, upstreams: Object.freeze({}) });
