import type { JsonObject, JsonValue } from './json.ts';

/**
 * What a tool can ask of the person or program at the other end. Nothing waits for the answer: the run ends, its outcome says what is
 * missing, and whoever wants to go on makes a new call that carries the answers and the state.
 */
export const INPUT_KINDS = ['elicit', 'elicit-url', 'sample', 'roots'] as const;
export type InputKind = (typeof INPUT_KINDS)[number];

export type InputRequest =
  /** A form for a person: a flat object of texts, numbers, flags and choices. */
  | { readonly kind: 'elicit'; readonly message: string; readonly schema: JsonObject }
  /** A page that a person opens: for what must not pass through the caller, such as a password. */
  | { readonly kind: 'elicit-url'; readonly message: string; readonly url: string; readonly id: string }
  /** Something for the caller's own model. */
  | {
      readonly kind: 'sample';
      readonly messages: readonly SampleMessage[];
      readonly maxTokens: number;
      readonly system?: string;
      readonly temperature?: number;
      readonly stopSequences?: readonly string[];
    }
  /** The folders that the caller works in. */
  | { readonly kind: 'roots' };

export interface SampleMessage {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

export type InputRequests = Readonly<Record<string, InputRequest>>;

/** What a call brings along. All of it is the caller's claim. */
export interface GivenInput {
  /** What the caller can be asked for; absent: it did not say. */
  readonly kinds?: readonly InputKind[];
  readonly responses?: JsonObject;
  /** As the outcome gave it. */
  readonly state?: string;
}

/** The facts of an outcome whose code is INPUT_REQUIRED. */
export interface RequiredInput {
  readonly requests: InputRequests;
  /** To be sent back as it is; absent when there is none. */
  readonly state?: string;
  /** Why responses that were given did not do, by name of the request. */
  readonly problems?: Readonly<Record<string, readonly string[]>>;
}

export function isInputKind(kind: JsonValue | undefined): kind is InputKind {
  return INPUT_KINDS.includes(kind as InputKind);
}
